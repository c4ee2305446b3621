# Makes room for protected files in the workdir of a check, inside its sandbox, where nothing of the agent has ever run. Reads their paths from
# standard input, with a NUL behind each, and prints those of all files so, behind the letter of their type (`l`: a link). What is no folder and
# stands in the place of one goes, and what is a folder and stands in the place of a file; a folder that is closed is opened.
set -eu
find . -type d ! -perm -700 -exec chmod u+rwx {} \;
while IFS= read -r -d '' path; do
  folder= rest=$path
  while [[ $rest == */* ]]; do
    folder=$folder${rest%%/*} rest=${rest#*/}
    if [ -L "$folder" ] || [ ! -d "$folder" ]; then rm -f -- "$folder"; fi
    folder=$folder/
  done
  if [ -d "$path" ] && [ ! -L "$path" ]; then rm -rf -- "$path"; fi
done
find . -mindepth 1 ! -type d -printf '%y%P\0'
