#!/bin/sh
# Copies a data directory while the exchange runs: backup.sh DATA COPY. Run it as the user of the
# exchange. A second run into the same COPY adds what is new.
set -eu
data=$1
copy=$2
umask 077
mkdir -p "$copy/journal"

# The order makes the copy valid: each file names only what is in the files copied after it.
for file in checkpoints journal/watermark; do
    if [ -e "$data/$file" ]; then cp "$data/$file" "$copy/$file"; fi
done
for segment in "$data"/journal/*.segment; do
    target=$copy/journal/${segment##*/}
    next=$copy/journal/$(printf '%08d' "$(($(basename "$segment" .segment | sed 's/^0*//') + 1))").segment
    # A segment with a successor in the copy is complete there.
    if [ ! -e "$target" ] || [ ! -e "$next" ]; then cp --sparse=always "$segment" "$target"; fi
done

for file in master.secret operator.token sync.token checkpoint.key checkpoint.pub cluster.key cluster.pub reader.key reader.pub; do
    if [ -e "$data/$file" ]; then cp "$data/$file" "$copy/$file"; fi
done
sqlite3 "$data/catalog.db" ".backup '$copy/catalog.db'"
sync
