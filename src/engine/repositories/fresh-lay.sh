# Puts protected paths back into the index of repo/, and lays what it has then into the folder: what the agent has put in the place of such a path
# never lies there.
set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent LC_ALL=C GIT_LITERAL_PATHSPECS=1
cd repo
if [ -s "$INPUT/protected" ]; then
  git reset --quiet --pathspec-from-file="$INPUT/protected" --pathspec-file-nul "$COMMIT"
fi
tree=$(git write-tree)
# The index still knows then which files lie there as they are in the commit: they are not written again.
git read-tree --reset "$COMMIT"
git read-tree --reset -u "$tree"
rm -rf "$INPUT"
