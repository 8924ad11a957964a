# A load for probing a toy meter: the file `load` exists while this runs. A shell, because it starts at once.
trap 'rm -f load; exit 0' TERM
touch load
while :; do sleep 60 & wait $!; done
