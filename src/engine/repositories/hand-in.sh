# Makes repo/ of the pack on standard input, inside the sandbox. It has its name when it is whole, and not before.
set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent LC_ALL=C
# A worker that was killed before it noted this has left the whole of it.
if [ -e repo ] || [ -L repo ]; then exit 0; fi
draft=.millwright-repo
rm -rf "$draft"
git init --quiet --template= --initial-branch="$BRANCH" "$draft"
mkdir "$draft/.git/info"
# No line ends, filters and encodings are changed, whatever the repository asks for: the files are as they are in the commit.
printf '* -text !eol !diff -filter -ident !working-tree-encoding\n' >"$draft/.git/info/attributes"
git -C "$draft" index-pack --stdin >/dev/null
if [ -n "$DETACHED" ]; then git -C "$draft" update-ref --no-deref HEAD "$COMMIT"; else git -C "$draft" update-ref HEAD "$COMMIT"; fi
git -C "$draft" reset --quiet --hard
mv -T "$draft" repo
