# Makes repo/ of the pack on standard input, inside the sandbox. It has its name when it is whole, and not before.
set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent LC_ALL=C
# The clone of a build (docs/decisions/0098) is a warm beginning: what its setup has made beside the files of the commit stays, and nothing of it
# decides what the commit of the task is. It keeps its mark until that lies in it.
if [ -f repo/.git/millwright-build ] && [ ! -L repo ]; then
  if [ "$(cat repo/.git/millwright-build)" = "$SOURCE" ]; then
    rm -f repo/.git/index.lock repo/.git/HEAD.lock
    git -C repo index-pack --stdin >/dev/null
    git -C repo update-ref --no-deref HEAD "$COMMIT"
    git -C repo for-each-ref --format='delete %(refname)' refs/heads | git -C repo update-ref --stdin
    if [ -z "$DETACHED" ]; then
      git -C repo update-ref "refs/heads/$BRANCH" "$COMMIT"
      git -C repo symbolic-ref HEAD "refs/heads/$BRANCH"
    fi
    git -C repo reset --quiet --hard
    if [ -n "${PATCH:-}" ] && [ -s "$PATCH" ]; then git -C repo apply --whitespace=nowarn "$PATCH"; fi
    rm repo/.git/millwright-build
    exit 0
  fi
  # Of another repository.
  rm -rf repo
fi
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
# What the task that made this one had changed (docs/decisions/0103).
if [ -n "${PATCH:-}" ] && [ -s "$PATCH" ]; then git -C "$draft" apply --whitespace=nowarn "$PATCH"; fi
mv -T "$draft" repo
