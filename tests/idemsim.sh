# SPDX-License-Identifier: ISC
#
# What the shell tests of idemsim begin with: read by them, not run.  They are in
# a folder of their own then, $dir, which is gone when they end; what makes
# temporary files has $dir/tmp.  $src and $build are those of idem, $idemsim the
# program, and IDEMSIM_LIBEXEC says where it finds the others.

top_srcdir=${top_srcdir:-$(dirname "$0")/..}
top_builddir=${top_builddir:-.}
src=$(cd "$top_srcdir" && pwd) || exit 1
build=$(cd "$top_builddir" && pwd) || exit 1
idemsim=${IDEMSIM:-$build/idemsim}
IDEMSIM_LIBEXEC=${IDEMSIM_LIBEXEC:-$build}
export IDEMSIM_LIBEXEC
count=0
failed=0

for program in "$idemsim" "$IDEMSIM_LIBEXEC/idemd-sim"; do
	if [ ! -x "$program" ]; then
		echo "1..0 # SKIP $program was not built"
		exit 0
	fi
done
dir=$(mktemp -d "${TMPDIR:-/tmp}/$(basename "$0" .sh).XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/tmp" && cd "$dir" || exit 1
TMPDIR=$dir/tmp
export TMPDIR

# ok STATUS SENTENCE: where it is not, with what was said.
ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		cat tap out err 2>/dev/null | head -n 60 | sed 's/^/# /'
		failed=1
	fi
}
