/* SPDX-License-Identifier: ISC */
#include "store.h"

#include <sqlite3.h>

int
idem_store_sqlite_version(void)
{
	return sqlite3_libversion_number();
}
