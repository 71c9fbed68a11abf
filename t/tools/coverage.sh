# Sourced by check: which lines the tests ran, as a report in ACDAT_COVERAGE.
# shellcheck shell=bash

report=$ACDAT_COVERAGE
[ "${report#/}" != "$report" ] || report=$source/$report
mkdir -p "$report"
# lcov warns about itself.
exec 3>&2 2>"$scratch/lcov.log"
# The library's objects only: the unit programs are not built for this.
lcov --quiet --capture --directory "$scratch/tree/src" --directory "$scratch/tree/shmem" \
	--base-directory "$scratch/tree" --output-file "$scratch/coverage.info"
lcov --quiet --extract "$scratch/coverage.info" '*/tree/src/*' '*/tree/shmem/*' \
	--output-file "$report/coverage.info"
genhtml --quiet --prefix "$scratch/tree" --output-directory "$report" "$report/coverage.info"
lcov --list "$report/coverage.info" >"$report/summary.txt"
exec 2>&3
