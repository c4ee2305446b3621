# After hand-in.sh, inside the sandbox of a check, where nothing of the agent has ever run: applies the patch of a task to the clean clone in repo/, in
# the index alone. Prints what differs from the commit: modes and digests, then the path, with a NUL behind each.
set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent LC_ALL=C
cd repo
# The pack has the commit and its files, and nothing of those before it.
printf '%s\n' "$COMMIT" >.git/shallow
if [ -s "$INPUT/patch" ]; then git apply --cached --whitespace=nowarn "$INPUT/patch"; fi
git diff --cached --raw --no-renames --no-ext-diff -z "$COMMIT" --
