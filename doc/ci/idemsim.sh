#!/bin/sh
# SPDX-License-Identifier: ISC
#
# A CI job: the scenarios of a repository, run by idemsim.
#
#	idemsim.sh [FOLDER]	of scenarios; by default scenarios/
#
# IDEMSIM_RUNS: of each test point, as far as they fit into five minutes; by
# default what the scenarios say.  What is not ok is told in idemsim-out/, results
# are in idemsim.xml and idemsim.json: keep all three.
#
# 0: all passed.  1: something was violated.  2: something was vacuous or
# inconclusive, or nothing was run, which is no pass.  64 and more: the job
# itself is broken; see idemsim(1).

set -u

scenarios=${1:-scenarios/}
runs=${IDEMSIM_RUNS:+--runs $IDEMSIM_RUNS --wall 5m}

for program in idemsim redis-server; do
	PATH=$PATH:/usr/sbin:/usr/local/sbin command -v "$program" >/dev/null || {
		echo "idemsim.sh: $program is not installed" >&2
		exit 69
	}
done

# A mistake in a file is told before anything is started.
idemsim explain "$scenarios" >/dev/null || exit

# What is left of the last time is not this time's.
rm -rf idemsim-out idemsim.xml idemsim.json

# shellcheck disable=SC2086 # runs are several words, or none
exec idemsim run --require live $runs --out idemsim-out \
    --junit idemsim.xml --json idemsim.json "$scenarios"
