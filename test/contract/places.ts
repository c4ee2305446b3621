// Things of every place and owner, as rows: what the matrix of roles and visibility asks for.
import { ENVELOPE } from './world.js';
import { v7 as uuidv7 } from 'uuid';
import type { TestApp } from '../harness/app.js';
import { CALLERS, type CallerKind, join, makeCaller } from '../harness/callers.js';
import { makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';

/** Where a thing is, and whose it and its project are, from the view of the caller. */
export interface Place {
  /** The visibility of its project; null for a thing without one. */
  project: 'private' | 'workspace' | null;
  projectIs: 'own' | 'others';
  thingIs: 'own' | 'others';
}

const WHOSE = ['own', 'others'] as const;
/** The ten places. Without a project nobody owns one. */
export const PLACES: readonly Place[] = [
  ...(['private', 'workspace'] as const).flatMap((project) =>
    WHOSE.flatMap((projectIs) => WHOSE.map((thingIs) => ({ project, projectIs, thingIs }))),
  ),
  ...WHOSE.map((thingIs) => ({ project: null, projectIs: 'others' as const, thingIs })),
];

/** A caller and things of one place, which no other case touches. */
export interface Case {
  caller: CallerKind & Member;
  place: Place;
  ids: Ids;
}

interface Ids {
  /** Null in the place without one. */
  project: string | null;
  /** Waits, in its second turn, for the answer to a question. */
  task: string;
  interaction: string;
  /** Waits in the task, sent by its creator. */
  message: string;
  automation: string;
  /** Attached by the one who did not create the task. */
  taskFile: string;
  /** In the project; without one it was in a project that is deleted. */
  projectFile: string;
  /** Of the caller, without a project. */
  ownTask: string;
  ownAutomation: string;
}

/**
 * One case for each caller, place and name, in a new workspace. The callers are its only members but one.
 * @param guests people of other workspaces, who become members of this one too, and callers.
 */
export async function makeCases(
  service: TestApp,
  names: readonly string[],
  guests: readonly Member[] = [],
): Promise<Map<string, Case[]>> {
  const other = await makeMember(service);
  const { workspace } = other;
  const callers: Case['caller'][] = [];
  for (const kind of CALLERS) callers.push({ ...kind, ...(await makeCaller(service, workspace, kind)) });
  for (const guest of guests)
    callers.push({ role: 'member', kind: 'person', ...(await join(service, guest, workspace)) });
  const rows = new Rows(workspace.id, await storedBytes(service, other));
  const cases = new Map(
    names.map((name) => [
      name,
      callers.flatMap((caller) => PLACES.map((place) => ({ caller, place, ids: rows.add(place, caller, other) }))),
    ]),
  );
  await rows.insert(service);
  return cases;
}

/** Bytes in the storage of the workspace, for files to point at. */
async function storedBytes(service: TestApp, member: Member): Promise<{ sha256: string; size: number }> {
  const { id, size } = await upload(service, member, 'x');
  const [row] = await service.db.query<{ sha256: string }>('SELECT sha256 FROM uploads WHERE id = $1', [id]);
  if (row === undefined) throw new Error('The upload left no row.');
  return { sha256: row.sha256, size };
}

type Row = Record<string, unknown>;

class Rows {
  /** In the order in which they refer to each other. */
  private readonly tables = {
    projects: [] as Row[],
    tasks: [] as Row[],
    messages: [] as Row[],
    tool_invocations: [] as Row[],
    interactions: [] as Row[],
    automations: [] as Row[],
    files: [] as Row[],
    task_proofs: [] as Row[],
    task_commands: [] as Row[],
  };

  constructor(
    private readonly workspaceId: string,
    private readonly bytes: { sha256: string; size: number },
  ) {}

  add({ project, projectIs, thingIs }: Place, caller: Member, other: Member): Ids {
    const [owner, stranger] = thingIs === 'own' ? [caller, other] : [other, caller];
    const projectId = project === null ? null : this.project(projectIs === 'own' ? caller : other, project);
    const task = this.task(owner, projectId, 'awaiting_input');
    return {
      project: projectId,
      task,
      interaction: this.question(task),
      message: this.message(owner, task),
      automation: this.automation(owner, projectId),
      taskFile: this.file(stranger, { task_id: task, project_id: null, origin: 'attachment' }),
      projectFile: this.file(owner, { task_id: null, project_id: projectId, origin: 'project' }),
      ownTask: this.task(caller, null, 'completed'),
      ownAutomation: this.automation(caller, null),
    };
  }

  async insert({ db }: TestApp): Promise<void> {
    for (const [table, rows] of Object.entries(this.tables)) {
      const columns = Object.keys(rows[0] ?? {}).join(', ');
      const sql = `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1)`;
      await db.query(sql, [JSON.stringify(rows)]);
    }
  }

  private put(table: keyof Rows['tables'], row: Row): string {
    const id = uuidv7();
    this.tables[table].push({ id, ...row });
    return id;
  }

  private project({ user }: Member, visibility: string): string {
    return this.put('projects', { workspace_id: this.workspaceId, owner_id: user.id, name: 'P', visibility });
  }

  private task({ user }: Member, project_id: string | null, status: string): string {
    const of = { workspace_id: this.workspaceId, project_id, created_by: user.id };
    const id = this.put('tasks', { ...of, title: 'T', status, model: 'runbook', last_seq: 2, turn: 2 });
    const over = {
      status: 'exited',
      output: '',
      output_bytes: 0,
      told: true,
      stop_asked: false,
      created_at: new Date(),
    };
    this.put('task_commands', { task_id: id, number: 1, tool_call_id: 'c', command: 'x', terminal: false, ...over });
    this.tables.task_proofs.push({ task_id: id, turn: 2, envelope: ENVELOPE });
    return id;
  }

  private message({ user }: Member, task_id: string): string {
    const nothing = { read_seq: null, turn: null, created_by: user.id };
    return this.put('messages', { task_id, seq: 2, ...nothing, role: 'user', status: 'queued', parts: [{ type: 'text', text: 'x' }] });
  } // prettier-ignore

  private question(task_id: string): string {
    const parts = [{ type: 'tool', toolCallId: 'c' }];
    const message_id = this.put('messages', { task_id, seq: 1, read_seq: 1, turn: 2, created_by: null, role: 'assistant', status: 'in_progress', parts });
    this.tables.tool_invocations.push({ message_id, idx: 0, tool_call_id: 'c', name: 'ask', input: {}, state: 'running' });
    return this.put('interactions', { task_id, message_id, tool_call_id: 'c', type: 'question', question: 'Q?', expires_at: '2099-01-01' });
  } // prettier-ignore

  private automation({ user }: Member, project_id: string | null): string {
    const of = { workspace_id: this.workspaceId, project_id, owner_id: user.id };
    const when = { kind: 'recurring', status: 'paused', cron: '0 9 * * *', timezone: 'UTC', overlap: 'skip' };
    return this.put('automations', { ...of, ...when, name: 'A', content: 'x' });
  }

  private file({ user }: Member, of: Row): string {
    const what = { ...this.bytes, name: 'a.txt', media_type: 'text/plain' };
    return this.put('files', { ...of, ...what, workspace_id: this.workspaceId, created_by: user.id });
  }
}
