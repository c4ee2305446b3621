# Inside the sandbox: what FOLDER/changes.patch changes beside FOLDER/.base, both of the commit whose files the pack on standard input holds. It takes the
# place of changes.patch; THEIRS is empty where there was none. Prints the figures. As in changes.sh nothing of repo/.git is read.
set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent LC_ALL=C
at=$(mktemp -d "$FOLDER/.millwright.XXXXXXXX")
trap 'rm -rf "$at" "$FOLDER/.base"' EXIT
GIT_DIR=$at/git
export GIT_DIR
git init --quiet --bare --template= --initial-branch=main "$GIT_DIR"
mkdir "$GIT_DIR/info" "$at/tree"
printf '* -text !eol !diff -filter -ident !working-tree-encoding\n' >"$GIT_DIR/info/attributes"
git index-pack --stdin >/dev/null
printf '%s\n' "$COMMIT" >"$GIT_DIR/shallow"
tree() {
  rm -f "$GIT_DIR/index"
  git read-tree "$COMMIT"
  if [ -s "$1" ]; then git --work-tree="$at/tree" apply --cached --whitespace=nowarn "$1"; fi
  git write-tree
}
from=$(tree "$FOLDER/.base")
to=$(if [ -n "$THEIRS" ]; then tree "$FOLDER/changes.patch"; else tree /dev/null; fi)
compare() {
  git diff --find-renames --no-color --no-ext-diff --no-textconv "$@" "$from" "$to" --
}
compare --binary --full-index --src-prefix=a/ --dst-prefix=b/ >"$at/patch"
mv "$at/patch" "$FOLDER/changes.patch"
compare --shortstat
