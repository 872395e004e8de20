/* SPDX-License-Identifier: ISC */
#ifndef KEEPER_BEGIN_H
#define KEEPER_BEGIN_H

#include "keeper.h"

/*
 * Make this process the keeper's: its descriptors, its signals.  What is
 * readable when a program has ended (signalfd(2)); -1 and errno.
 */
int keeper_begin(const struct keeper_options *);

#endif
