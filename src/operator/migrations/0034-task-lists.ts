import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What lists of tasks filter, search and sort by (reference §2, §4, docs/decisions/0060). */
export class TaskLists1797379200034 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(COLUMNS);
    await db.query(BACKFILL);
    await db.query(WORDS);
    await db.query(INDEXES);
    await db.query(EVENTS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}

/** What tasks are found by that are older than this. */
export const BACKFILL = `
UPDATE tasks t SET updated_slot = floor(extract(epoch FROM t.updated_at) / 600), opening = coalesce((
  SELECT left(jsonb_path_query_first(m.parts, '$[*] ? (@.type == "text").text') #>> '{}', 10000)
  FROM messages m WHERE m.task_id = t.id AND m.seq = 1), '');
`;

const COLUMNS = `
ALTER TABLE projects ADD COLUMN tags text[] NOT NULL DEFAULT '{}';

ALTER TABLE tasks
  ADD COLUMN tags text[] NOT NULL DEFAULT '{}',
  ADD COLUMN archived boolean NOT NULL DEFAULT false,
  -- The first 10,000 characters of the first message.
  ADD COLUMN opening text NOT NULL DEFAULT '',
  -- Which ten minutes updated_at lies in, counted from 1970: what the list by updated_at is indexed by. An index on the time itself
  -- would be written at each step of each task.
  ADD COLUMN updated_slot int NOT NULL DEFAULT 0;

CREATE FUNCTION move_updated_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_slot := floor(extract(epoch FROM NEW.updated_at) / 600);
  RETURN NEW;
END $$;
CREATE TRIGGER slot_of_update BEFORE INSERT OR UPDATE OF updated_at ON tasks FOR EACH ROW
  WHEN (NEW.updated_slot <> floor(extract(epoch FROM NEW.updated_at) / 600)) EXECUTE FUNCTION move_updated_slot();
`;

// Scripts that set no space between words: Thai, Lao, Burmese, Khmer, Kana, Chinese characters. Each character is a word by itself.
const UNSPACED = String.raw`\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff`;
// White space and punctuation, by their numbers: what a class such as [:punct:] holds depends on the database's locale.
const BETWEEN = String.raw`\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\ue000-\uf8ff\ufe00-\ufe0f\U0001f000-\U0001faff`;

const WORDS = String.raw`
-- The words of a text, in lower case, without accents, with one space between them: user.service.ts has three.
CREATE FUNCTION search_words(given text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  plain text := given;
BEGIN
  IF octet_length(plain) <> length(plain) THEN
    plain := regexp_replace(regexp_replace(normalize(plain, NFKD), '[\u0300-\u036f]+', '', 'g'), '([${UNSPACED}])', ' \1 ', 'g');
  END IF;
  RETURN trim(regexp_replace(lower(plain), '[${BETWEEN}]+', ' ', 'g'));
END $$;

-- What begins the words of a workspace in the index: in it, a workspace looks through its own words alone.
CREATE FUNCTION search_mark(workspace uuid) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT 'w' || right(workspace::text, 8)
$$;

-- A tag (key ''), or a pair of metadata, as a word of the index.
CREATE FUNCTION search_label(workspace uuid, key text, value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT 'l' || md5(workspace::text || length(key) || '=' || key || value)
$$;

-- What a task is found by. The cost says that it is dear: better look into the index than compute it for each task of a page. VACUUM and
-- REINDEX call it without a search path of their own.
CREATE FUNCTION task_terms(workspace uuid, title text, opening text, tags text[], metadata jsonb) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 25000 SET search_path FROM CURRENT AS $$
DECLARE
  mark text := ' ' || search_mark(workspace);
  terms tsvector := to_tsvector('simple', replace(' ' || search_words(title || ' ' || opening), ' ', mark));
BEGIN
  IF tags <> '{}' THEN
    terms := terms || array_to_tsvector(ARRAY(SELECT search_label(workspace, '', tag) FROM unnest(tags) tag));
  END IF;
  IF metadata <> '{}' THEN
    terms := terms || array_to_tsvector(ARRAY(SELECT search_label(workspace, key, value) FROM jsonb_each_text(metadata)));
  END IF;
  RETURN terms;
END $$;

-- The tasks that have all words (or words that begin so), the tag and the metadata; each of them may be null. Null when there is
-- nothing to be found by. Characters of scripts without spaces must follow each other.
CREATE FUNCTION task_query(workspace uuid, words text, tag text, metadata jsonb) RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  wanted text := NULL;
BEGIN
  IF words IS NOT NULL THEN
    SELECT string_agg(CASE WHEN n = 1 THEN '' WHEN alone AND after_alone THEN ' <-> ' ELSE ' & ' END
      || search_mark(workspace) || left(word, 500) || ':*', '' ORDER BY n) INTO wanted
    FROM (
      SELECT word, n, word ~ '^[${UNSPACED}]' AS alone, lag(word) OVER (ORDER BY n) ~ '^[${UNSPACED}]' AS after_alone
      FROM string_to_table(search_words(words), ' ') WITH ORDINALITY AS split (word, n) WHERE word <> '') found;
    IF wanted IS NULL THEN
      RETURN NULL;
    END IF;
  END IF;
  RETURN to_tsquery('simple', concat_ws(' & ', wanted, search_label(workspace, '', tag), (
    SELECT string_agg(search_label(workspace, key, value), ' & ') FROM jsonb_each_text(metadata))));
END $$;
`;

const INDEXES = `
CREATE INDEX tasks_terms ON tasks USING gin (task_terms(workspace_id, title, opening, tags, metadata));

-- With archived in them: a workspace that has archived nearly all of its tasks finds the others at once.
DROP INDEX tasks_page;
CREATE INDEX tasks_page ON tasks (workspace_id, archived, created_at DESC, id DESC);
DROP INDEX tasks_project_page;
CREATE INDEX tasks_project_page ON tasks (project_id, archived, created_at DESC, id DESC) WHERE project_id IS NOT NULL;
DROP INDEX tasks_automation_page;
CREATE INDEX tasks_automation_page ON tasks (automation_id, archived, created_at DESC, id DESC) WHERE automation_id IS NOT NULL;
CREATE INDEX tasks_updated ON tasks (workspace_id, archived, updated_slot DESC);
`;

// As in migration 0018, with the fields that a PATCH takes since: tags, archived, model, effort. What a person sends brings an
// archived task back, which is told before the status.
const EVENTS = `
CREATE OR REPLACE FUNCTION record_task_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  type text := CASE
    WHEN TG_OP = 'INSERT' THEN 'task.created'
    WHEN OLD.status <> NEW.status THEN 'task.' || NEW.status
    ELSE 'task.updated' END;
  data jsonb := jsonb_build_object('projectId', NEW.project_id, 'metadata', NEW.metadata);
BEGIN
  NEW.last_event := NEW.last_event + 1;
  IF type <> 'task.created' AND type <> 'task.updated' AND OLD.archived <> NEW.archived THEN
    INSERT INTO task_events (task_id, seq, type, data)
    VALUES (NEW.id, NEW.last_event, 'task.updated', data || '{"changed": ["archived"]}');
    INSERT INTO workspace_events (xid, workspace_id, task_id, seq, type, data)
    VALUES (pg_current_xact_id()::text::bigint, NEW.workspace_id, NEW.id, NEW.last_event, 'task.updated',
      data || '{"changed": ["archived"]}');
    NEW.last_event := NEW.last_event + 1;
  END IF;
  IF type = 'task.updated' THEN
    data := data || jsonb_build_object('changed', array_remove(ARRAY[
      CASE WHEN OLD.title <> NEW.title THEN 'title' END,
      CASE WHEN OLD.project_id IS DISTINCT FROM NEW.project_id THEN 'projectId' END,
      CASE WHEN OLD.budget IS DISTINCT FROM NEW.budget THEN 'budget' END,
      CASE WHEN OLD.metadata <> NEW.metadata THEN 'metadata' END,
      CASE WHEN OLD.tags <> NEW.tags THEN 'tags' END,
      CASE WHEN OLD.archived <> NEW.archived THEN 'archived' END,
      CASE WHEN OLD.model <> NEW.model THEN 'model' END,
      CASE WHEN OLD.effort IS DISTINCT FROM NEW.effort THEN 'effort' END,
      CASE WHEN OLD.created_by <> NEW.created_by THEN 'createdBy' END], NULL));
  ELSE
    data := data || jsonb_build_object(
      'status', NEW.status,
      'statusReason', NEW.status_reason,
      'source', jsonb_build_object('type', CASE WHEN NEW.automation_id IS NULL THEN 'api' ELSE 'automation' END,
        'automationId', NEW.automation_id, 'automationRunId', NEW.automation_run_id),
      'usage', jsonb_build_object('inputTokens', NEW.input_tokens, 'outputTokens', NEW.output_tokens,
        'cachedInputTokens', NEW.cached_input_tokens, 'reasoningTokens', NEW.reasoning_tokens, 'steps', NEW.steps,
        'toolCalls', NEW.tool_calls, 'durationMs', NEW.duration_ms,
        'cost', CASE WHEN NEW.cost_micros IS NOT NULL THEN jsonb_build_object(
          'amount', to_char(NEW.cost_micros::numeric / 1000000, 'FM9999999999990.009999'), 'currency', 'USD') END),
      'interactionId', NULL);
    IF NEW.status = 'awaiting_input' THEN
      -- The statement that asks inserts the interaction before it comes to the task.
      data := data || jsonb_build_object('interactionId', (
        SELECT i.id FROM interactions i WHERE i.task_id = NEW.id AND i.status = 'pending'));
    END IF;
  END IF;
  INSERT INTO task_events (task_id, seq, type, data) VALUES (NEW.id, NEW.last_event, type, data);
  INSERT INTO workspace_events (xid, workspace_id, task_id, seq, type, data)
  VALUES (pg_current_xact_id()::text::bigint, NEW.workspace_id, NEW.id, NEW.last_event, type, data);
  RETURN NEW;
END $$;
DROP TRIGGER event_of_update ON tasks;
CREATE TRIGGER event_of_update BEFORE UPDATE OF title, project_id, budget, metadata, tags, archived, model, effort, created_by ON tasks
  FOR EACH ROW
  WHEN (OLD.status = NEW.status
    AND (OLD.title, OLD.project_id, OLD.budget, OLD.metadata, OLD.tags, OLD.archived, OLD.model, OLD.effort, OLD.created_by)
    IS DISTINCT FROM
      (NEW.title, NEW.project_id, NEW.budget, NEW.metadata, NEW.tags, NEW.archived, NEW.model, NEW.effort, NEW.created_by))
  EXECUTE FUNCTION record_task_event();
`;
