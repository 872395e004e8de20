/* SPDX-License-Identifier: ISC */
#include "label.h"
#include "master.h"

int
main(int argc, char **argv)
{
	struct options options;
	int answer = options_read(&options, argc, argv);

	if (answer != 0)
		return answer == -1 ? 0 : answer;
	IDEM_LABELS_INIT();
	return master_main(&options);
}
