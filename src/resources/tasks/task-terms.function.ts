// What the words, tags and metadata of tasks become in `search_terms`, and what a search becomes (docs/decisions/0060, 0089). Functions of
// the database, because a trigger keeps that table. A migration that changes one by which terms are made makes all terms anew.

// Scripts that set no space between words: Thai, Lao, Burmese, Khmer, Kana, Chinese characters. Each character is a word by itself.
const UNSPACED = String.raw`\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff`;
// White space and punctuation, by their numbers: what a class such as [:punct:] holds depends on the database's locale.
const BETWEEN = String.raw`\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\ue000-\uf8ff\ufe00-\ufe0f\U0001f000-\U0001faff`;

/** The words of a text, in lower case, without accents, with one space between them: user.service.ts has three. */
export const SEARCH_WORDS = String.raw`
CREATE OR REPLACE FUNCTION search_words(given text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  plain text := given;
BEGIN
  IF octet_length(plain) <> length(plain) THEN
    plain := regexp_replace(regexp_replace(normalize(plain, NFKD), '[\u0300-\u036f]+', '', 'g'), '([${UNSPACED}])', ' \1 ', 'g');
  END IF;
  RETURN trim(regexp_replace(lower(plain), '[${BETWEEN}]+', ' ', 'g'));
END $$;
`;

/** What begins the words of a workspace in the index: in it, a workspace looks through its own words alone. */
export const SEARCH_MARK = `
CREATE OR REPLACE FUNCTION search_mark(workspace uuid) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT 'w' || right(workspace::text, 8)
$$;
`;

/** A tag (key ''), or a pair of metadata, as a word of the index. */
export const SEARCH_LABEL = `
CREATE OR REPLACE FUNCTION search_label(workspace uuid, key text, value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT 'l' || md5(workspace::text || length(key) || '=' || key || value)
$$;
`;

/** What a task is found by. The cost says that it is dear: a search computes it only where a caller sees the title alone (task-list.sql.ts). */
export const TASK_TERMS = `
CREATE OR REPLACE FUNCTION task_terms(workspace uuid, title text, opening text, tags text[], metadata jsonb) RETURNS tsvector
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
`;

/**
 * The tasks that have all words (or words that begin so), the tag and the metadata; each of them may be null: a search (task-list.sql.ts). Null when
 * there is nothing to be found by. Characters of scripts without spaces must follow each other.
 */
export const TASK_QUERY = `
CREATE OR REPLACE FUNCTION task_query(workspace uuid, words text, tag text, metadata jsonb) RETURNS tsquery
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

/** Writes what a task is found by when that changes. In a table of its own: in the row of the task each step would copy it, and an index of it would be written at each change of a status. */
export const KEEP_SEARCH_TERMS = `
CREATE OR REPLACE FUNCTION keep_search_terms() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_terms (task_id, terms)
  VALUES (NEW.id, task_terms(NEW.workspace_id, NEW.title, NEW.opening, NEW.tags, NEW.metadata))
  ON CONFLICT (task_id) DO UPDATE SET terms = excluded.terms;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER terms_of_new AFTER INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION keep_search_terms();
CREATE OR REPLACE TRIGGER terms_of_change AFTER UPDATE OF title, opening, tags, metadata ON tasks FOR EACH ROW
  WHEN ((OLD.title, OLD.opening, OLD.tags, OLD.metadata) IS DISTINCT FROM (NEW.title, NEW.opening, NEW.tags, NEW.metadata))
  EXECUTE FUNCTION keep_search_terms();
`;

/**
 * Some tasks with the terms, in no order: all, if they are fewer than `most`. By the index in any case: the planner's guess for a beginning of a word is
 * 0.5 % of all tasks, and where it read the terms one by one a rare word took seconds.
 */
export const FIND_TASKS = `
CREATE OR REPLACE FUNCTION find_tasks(wanted tsquery, most int) RETURNS SETOF uuid LANGUAGE plpgsql STABLE ROWS 1000
SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY SELECT s.task_id FROM search_terms s WHERE s.terms @@ wanted LIMIT most;
END $$;
`;
