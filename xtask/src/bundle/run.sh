#!/usr/bin/env bash
# Runs everything in this folder on this machine: doctor, every test, the graph job on every backend,
# the bench. Installs nothing. Each step has a time limit and a log; the last lines are a table.
#
#   ./run.sh [LOG_FOLDER]        default: ./results
#   STEP_SECONDS=300             time limit of one step
#   BACKENDS="cuda vulkan"       backends that must be present here
#   SCALE=16                     R-MAT scale of the graph job
#   BENCH="--scenario S1,S3"     options of the bench; default: --quick
#   ONLY=test                    only the steps whose names contain this
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
logs=${1:-$here/results}
limit=${STEP_SECONDS:-300}
backends=${BACKENDS-cuda vulkan}
mkdir -p "$logs" && logs=$(cd "$logs" && pwd) || exit 2
table=$logs/table.txt
: >"$table"
failed=0

# step NAME PROGRAM [ARGUMENT...]
step() {
  local name=$1 begin=$SECONDS code
  shift
  case $name in *"${ONLY:-}"*) ;; *) return ;; esac
  echo "== $name"
  timeout --kill-after=10 "$limit" "$@" >"$logs/$name.log" 2>&1 </dev/null
  code=$?
  tail -n 15 "$logs/$name.log"
  [ "$code" = 0 ] || failed=$((failed + 1))
  printf '%-34s exit %3d  %4d s\n' "$name" "$code" "$((SECONDS - begin))" >>"$table"
}

# A backend that is asked for and missing is a failure, not a skipped test.
for backend in $backends; do
  export "WARPHEAP_REQUIRE_${backend^^}=1"
done

cd "$here" || exit 2
[ -d bin ] || xz --memlimit-decompress=1GiB -dc programs.tar.xz | tar -x || exit 2
step doctor bin/warpheap doctor
for test in tests/*; do
  # These open a device each: one after the other, since NVIDIA's driver 580 may spin when a thread
  # ends while others open and close devices.
  one=""
  case $test in *warpheap-vulkan*) one=--test-threads=1 ;; esac
  step "test-$(basename "$test")" "$test" $one
done
for backend in host $backends; do
  step "graph-$backend" bin/warpheap graph --backend "$backend" --scale "${SCALE:-16}"
done
for backend in $backends; do
  # shellcheck disable=SC2086 # several options
  step "bench-$backend" bin/warpheap bench --backend "$backend" ${BENCH-"--quick"} \
    --out "$logs/bench-$backend"
done

echo
cat "$table"
echo "$failed failed"
[ "$failed" = 0 ]
