// Arguments of calls as a model writes them. Their keys stand in another order than the database's, which sorts them by their length.
export const WRITE = '{"content": "A line.\\n", "path": "a.txt"}';
export const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+A "line".\n*** End Patch\n';
export const PLAN = '{"items": [{"status": "done", "text": "One."}, {"status": "pending", "text": "Two."}]}';
export const ASK =
  '{"question": "Which?", "options": [{"label": "First", "id": "1"}, {"label": "Second", "id": "2", "description": "It."}]}';
export const BASH = '{"command": "cat a.txt; echo no >&2; exit 3"}';
