# Tells repo/ from the commit whose files the pack on standard input holds, inside the sandbox and while no other command runs.
# The repository that compares is made anew: nothing of repo/.git is read, whatever the agent has made of it.
# Prints the folder of the patch, then the figures; the folder is removed by the caller, and clear-changes.sh goes before.
set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent LC_ALL=C
at=$(mktemp -d .millwright-changes.XXXXXXXX)
GIT_DIR=$PWD/$at/git
export GIT_DIR
git init --quiet --bare --template= --initial-branch=main "$GIT_DIR"
mkdir "$GIT_DIR/info"
printf '* -text !eol !diff -filter -ident !working-tree-encoding\n' >"$GIT_DIR/info/attributes"
git index-pack --stdin >/dev/null
git read-tree "$COMMIT"
tree=$PWD/$at/tree
if [ -d repo ] && [ ! -L repo ]; then
  # git(1) passes over a repository inside of another; its files are compared as any others.
  if [ -n "$(find repo -path repo/.git -prune -o -name .git -print -quit 2>/dev/null)" ]; then
    cp -al repo "$tree" 2>/dev/null || true
    find "$tree" -type d ! -perm -700 -execdir chmod u+rwx {} \; 2>/dev/null || true
    find "$tree" -name .git -prune -exec rm -rf {} + 2>/dev/null || true
  else
    tree=$PWD/repo
  fi
else
  mkdir "$tree"
fi
# 1: some files could not be read, or have names that git(1) refuses.
git -C "$tree" --work-tree=. add --all --ignore-errors . 2>/dev/null || [ $? -eq 1 ]
compare() {
  git diff --cached --find-renames --no-color --no-ext-diff --no-textconv "$@" "$COMMIT" --
}
compare --binary --full-index --src-prefix=a/ --dst-prefix=b/ >"$at/patch"
printf '%s\n' "$at"
compare --shortstat
