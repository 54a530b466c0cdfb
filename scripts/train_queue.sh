#!/usr/bin/env bash
# Trains the recipes named in runs/queue.txt (one name of configs/*.toml per line), from the top.
# Run it once per core. Lines may be added while it runs; after a crash, run it again: runs resume at their last epoch.
cd "$(dirname "$0")/.." || exit 1
export OMP_NUM_THREADS=1 GOMP_SPINCOUNT=0 PYTHONPATH=.
# Freed memory is kept: fetching it anew from the system for every activation costs a tenth of a step.
export MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=4294967296
set -o noclobber
mkdir -p runs

# Print the first recipe that is neither finished nor being trained, and mark it as ours.
claim_next() {
    local name owner
    while read -r name; do
        [ -n "$name" ] && [ ! -e "runs/$name.done" ] && [ ! -e "runs/$name.failed" ] || continue
        owner=$(cat "runs/$name.claim" 2>/dev/null)
        if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then rm -f "runs/$name.claim"; fi
        if { echo "$$" > "runs/$name.claim"; } 2>/dev/null; then echo "$name"; return 0; fi
    done < runs/queue.txt
    return 1
}

while name=$(claim_next); do
    echo "$(date '+%F %T') start $name"
    if nice -n 10 .venv/bin/python -c 'from tpc_core.cli.train import train; train()' \
        "configs/$name.toml" --resume --json >> "runs/$name.out" 2>&1; then
        touch "runs/$name.done"
        echo "$(date '+%F %T') done $name $(tail -1 "runs/$name.out")"
    else
        touch "runs/$name.failed"
        echo "$(date '+%F %T') FAILED $name: $(tail -1 "runs/$name.out")"
    fi
    rm -f "runs/$name.claim"
done
