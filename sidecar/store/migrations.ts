/** How a database dialect expresses the parts of the schema that both dialects share. */
export interface SqlDialect {
  /** The type of texts; they are compared by code point. */
  readonly text: string;
  readonly integer: string;
  /** The type of a generated key; values of `counted` are never reused. */
  readonly id: string;
  readonly counted: string;
  /** What follows a table definition; `keyed` for a table that is stored by its primary key. */
  readonly strict: string;
  readonly keyed: string;
  /** What follows a reference that is checked only at the end of a transaction, because related rows are deleted one by one. */
  readonly deferred: string;
  /** Text that applies to only one of the dialects. */
  readonly only: (one: { readonly sqlite?: string; readonly postgres?: string }) => string;
}

/**
 * Returns the initial schema and the migrations in one dialect; see formats.ts.
 *
 * Names are compared as bytes: case matters. A row of `content` is deleted together with the last row that refers to
 * it; triggers do this, however that row is deleted.
 */
export function migrationsFor(dialect: SqlDialect): readonly string[] {
  const { text, integer, id, counted, strict, keyed, deferred, only } = dialect;
  return [
    `
  CREATE TABLE content (
    sha256 ${text} NOT NULL PRIMARY KEY,
    size ${integer} NOT NULL,
    text ${text} NOT NULL
  )${strict};

  CREATE TABLE domain (
    id ${id},
    name ${text} NOT NULL UNIQUE,
    description ${text},
    created_at ${integer} NOT NULL,
    modified_at ${integer} NOT NULL,
    compatibility ${text} NOT NULL DEFAULT 'none'
      ${only({ sqlite: `CHECK (compatibility IN ('none', 'backward', 'forward', 'full'))` })}
  )${strict};

  CREATE TABLE model (
    id ${id},
    domain_id ${integer} NOT NULL REFERENCES domain (id) ON DELETE CASCADE,
    name ${text} NOT NULL,
    description ${text},
    context_base ${text},
    -- Null: that of its domain.
    compatibility ${text} ${only({ sqlite: `CHECK (compatibility IN ('none', 'backward', 'forward', 'full'))` })},
    current_version ${integer} NOT NULL,
    created_at ${integer} NOT NULL,
    modified_at ${integer} NOT NULL,
    status ${text} NOT NULL DEFAULT 'published'
      ${only({ sqlite: `CHECK (status IN ('draft', 'published', 'deprecated'))` })},
    deprecated_at ${integer},
    sunset_at ${integer},
    UNIQUE (domain_id, name)
    ${only({ sqlite: `, ${CURRENT_MODEL}` })}
  )${strict};

  -- With a model_id, the context generated from that model.
  CREATE TABLE context (
    id ${id},
    name ${text} NOT NULL UNIQUE,
    model_id ${integer} UNIQUE REFERENCES model (id) ON DELETE CASCADE,
    current_version ${integer} NOT NULL,
    created_at ${integer} NOT NULL,
    modified_at ${integer} NOT NULL
    ${only({ sqlite: `, ${CURRENT_CONTEXT}` })}
  )${strict};

  CREATE TABLE context_version (
    context_id ${integer} NOT NULL REFERENCES context (id) ON DELETE CASCADE,
    number ${integer} NOT NULL,
    sha256 ${text} NOT NULL REFERENCES content (sha256)${deferred},
    created_at ${integer} NOT NULL,
    PRIMARY KEY (context_id, number)
  )${keyed};
  CREATE INDEX context_version_by_content ON context_version (sha256);
  ${only({ postgres: `ALTER TABLE context ADD ${CURRENT_CONTEXT};` })}

  CREATE TABLE model_version (
    model_id ${integer} NOT NULL REFERENCES model (id) ON DELETE CASCADE,
    number ${integer} NOT NULL,
    context_id ${integer} NOT NULL,
    sha256 ${text} NOT NULL REFERENCES content (sha256)${deferred},
    description ${text},
    metadata ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    PRIMARY KEY (model_id, number),
    -- No version of a model without the same version of its context.
    FOREIGN KEY (context_id, number) REFERENCES context_version (context_id, number)${deferred}
  )${strict};
  CREATE INDEX model_version_by_context ON model_version (context_id, number);
  CREATE INDEX model_version_by_content ON model_version (sha256);
  ${only({ postgres: `ALTER TABLE model ADD ${CURRENT_MODEL};` })}

  -- The context that a model was given, as JSON.
  CREATE TABLE model_own_context (
    model_id ${integer} PRIMARY KEY REFERENCES model (id) ON DELETE CASCADE,
    sha256 ${text} NOT NULL REFERENCES content (sha256)${deferred}
  )${strict};
  CREATE INDEX model_own_context_by_content ON model_own_context (sha256);

  -- Example entities of a model, stored as given.
  CREATE TABLE model_example (
    model_id ${integer} NOT NULL REFERENCES model (id) ON DELETE CASCADE,
    name ${text} NOT NULL,
    form ${text},
    sha256 ${text} NOT NULL REFERENCES content (sha256)${deferred},
    PRIMARY KEY (model_id, name)
  )${keyed};
  CREATE INDEX model_example_by_content ON model_example (sha256);

  -- What the newest version of a model describes, for searches.
  CREATE TABLE model_term (
    model_id ${integer} NOT NULL REFERENCES model (id) ON DELETE CASCADE,
    kind ${text} NOT NULL,
    name ${text} NOT NULL,
    PRIMARY KEY (model_id, kind, name)
  )${keyed};
  CREATE INDEX model_term_by_name ON model_term (kind, name);

  -- The file is the same for all URLs of one file of a code host, and empty where a URI means no other. In PostgreSQL, an
  -- index of URIs holds their hashes, for a URI may be longer than an ordered index takes.
  CREATE TABLE reference (
    id ${id},
    uri ${text} NOT NULL ${only({ sqlite: 'UNIQUE' })},
    source ${text} NOT NULL CHECK (source IN ('stored', 'fetched')),
    sha256 ${text} NOT NULL REFERENCES content (sha256)${deferred},
    created_at ${integer} NOT NULL,
    modified_at ${integer} NOT NULL,
    file ${text}
    ${only({ postgres: ', EXCLUDE USING hash (uri WITH =)' })}
  )${strict};
  CREATE INDEX reference_by_content ON reference (sha256);
  CREATE INDEX reference_by_file ON reference ${only({ postgres: 'USING hash' })} (file);

  -- What depends on what. A reference document may name others that are not there (yet); nothing else may.
  CREATE TABLE model_uses_reference (
    model_id ${integer} NOT NULL,
    number ${integer} NOT NULL,
    reference_id ${integer} NOT NULL REFERENCES reference (id)${deferred},
    sha256 ${text} NOT NULL REFERENCES content (sha256)${deferred},
    PRIMARY KEY (model_id, number, reference_id),
    FOREIGN KEY (model_id, number) REFERENCES model_version (model_id, number) ON DELETE CASCADE
  )${keyed};
  CREATE INDEX model_uses_reference_by_reference ON model_uses_reference (reference_id);
  CREATE INDEX model_uses_reference_by_content ON model_uses_reference (sha256);

  CREATE TABLE model_uses_context (
    model_id ${integer} NOT NULL,
    number ${integer} NOT NULL,
    used_id ${integer} NOT NULL REFERENCES context (id)${deferred},
    PRIMARY KEY (model_id, number, used_id),
    FOREIGN KEY (model_id, number) REFERENCES model_version (model_id, number) ON DELETE CASCADE
  )${keyed};
  CREATE INDEX model_uses_context_by_used ON model_uses_context (used_id);

  CREATE TABLE context_uses_context (
    context_id ${integer} NOT NULL,
    number ${integer} NOT NULL,
    used_id ${integer} NOT NULL REFERENCES context (id)${deferred},
    PRIMARY KEY (context_id, number, used_id),
    FOREIGN KEY (context_id, number) REFERENCES context_version (context_id, number) ON DELETE CASCADE
  )${keyed};
  CREATE INDEX context_uses_context_by_used ON context_uses_context (used_id);

  -- The reference documents that a version of a context was made from, or names.
  CREATE TABLE context_uses_reference (
    context_id ${integer} NOT NULL,
    number ${integer} NOT NULL,
    reference_id ${integer} NOT NULL REFERENCES reference (id)${deferred},
    PRIMARY KEY (context_id, number, reference_id),
    FOREIGN KEY (context_id, number) REFERENCES context_version (context_id, number) ON DELETE CASCADE
  )${keyed};
  CREATE INDEX context_uses_reference_by_reference ON context_uses_reference (reference_id);

  CREATE TABLE reference_uses_uri (
    reference_id ${integer} NOT NULL REFERENCES reference (id) ON DELETE CASCADE,
    uri ${text} NOT NULL,
    file ${text}
    ${only({ sqlite: ', PRIMARY KEY (reference_id, uri)' })}
  )${keyed};
  ${only({ postgres: 'CREATE INDEX reference_uses_uri_by_reference ON reference_uses_uri (reference_id);' })}
  CREATE INDEX reference_uses_uri_by_uri ON reference_uses_uri ${only({ postgres: 'USING hash' })} (uri);
  CREATE INDEX reference_uses_uri_by_file ON reference_uses_uri ${only({ postgres: 'USING hash' })} (file);

  CREATE VIEW named_content (sha256) AS
    ${NAMING_CONTENT.map((table) => `SELECT sha256 FROM ${table}`).join(' UNION ALL ')};
  ${only({ postgres: FORGET_CONTENT })}
  ${NAMING_CONTENT.map((table) => forgetting('DELETE', table, dialect)).join('')}
  ${CHANGING_CONTENT.map((table) => forgetting('UPDATE OF sha256', table, dialect)).join('')}
  ${only({ postgres: ONE_ROW_TABLES })}

  -- The holder works on it, until held_until unless renewed; lease is one of the numbers of job_lease. Null: it waits.
  CREATE TABLE job (
    number ${counted},
    id ${text} NOT NULL UNIQUE,
    kind ${text} NOT NULL,
    state ${text} NOT NULL,
    tenant ${text} NOT NULL,
    caller ${text} NOT NULL,
    retention_policy ${text},
    held_back ${integer} NOT NULL,
    dry_run ${integer} NOT NULL,
    created_at ${integer} NOT NULL,
    ended_at ${integer},
    query_text ${text} NOT NULL,
    types ${text} NOT NULL,
    record ${text} NOT NULL,
    details ${text},
    job ${text},
    broker ${text},
    holder ${text},
    held_until ${integer},
    lease ${integer} NOT NULL DEFAULT 0,
    request ${text}
  )${strict};
  CREATE INDEX job_by_kind ON job (kind, number);
  CREATE INDEX job_by_state ON job (state, number);
  CREATE INDEX job_by_end ON job (ended_at);
  CREATE INDEX job_by_retention_policy ON job (retention_policy, number) WHERE retention_policy IS NOT NULL;
  CREATE UNIQUE INDEX job_one_run ON job (retention_policy) WHERE retention_policy IS NOT NULL AND ended_at IS NULL;
  CREATE INDEX job_unfinished ON job (number) WHERE ended_at IS NULL;
  CREATE INDEX job_by_lease ON job (tenant, lease);
  CREATE TABLE job_lease (number ${integer} NOT NULL)${strict};
  INSERT INTO job_lease VALUES (0);

  -- The findings of dry runs, to be applied later.
  CREATE TABLE purge_plan (
    id ${text} PRIMARY KEY,
    hash_key ${text} NOT NULL,
    items ${integer} NOT NULL,
    begun_at ${integer} NOT NULL,
    made_at ${integer},
    applied_by ${text}
  )${keyed};
  CREATE TABLE purge_plan_part (
    plan ${text} NOT NULL REFERENCES purge_plan ON DELETE CASCADE,
    number ${integer} NOT NULL,
    hashes ${text} NOT NULL,
    PRIMARY KEY (plan, number)
  )${keyed};

  CREATE TABLE scan_entities (
    scan ${text} NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    finding ${text} NOT NULL,
    first ${integer} NOT NULL,
    count ${integer} NOT NULL,
    entities ${text} NOT NULL,
    PRIMARY KEY (scan, finding, first)
  )${keyed};

  CREATE TABLE retention_policy (
    name ${text} PRIMARY KEY,
    settings ${text} NOT NULL,
    author ${text} NOT NULL,
    enabled ${integer} NOT NULL,
    done_until ${integer} NOT NULL,
    created_at ${integer} NOT NULL,
    modified_at ${integer} NOT NULL
  )${keyed};

  CREATE TABLE write_policy (
    name ${text} NOT NULL PRIMARY KEY,
    settings ${text} NOT NULL,
    caller ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    modified_at ${integer} NOT NULL
  )${keyed};
  ${only({ postgres: NOTIFICATIONS })}
  `,
    // SQLite reads rows on the event loop: lists of jobs find and count what they show in an index, which has all that they are
    // filtered by except the text. (In PostgreSQL, an index has no room for long texts.)
    only({
      sqlite: `DROP INDEX job_by_kind;
  DROP INDEX job_by_state;
  CREATE INDEX job_listed
    ON job (number, kind, state, tenant, caller, retention_policy, dry_run, created_at, types);`,
    }),
    // Lists are in the order of creation: a record may be stored later than a newer one.
    `${only({ sqlite: 'DROP INDEX job_listed;' })}
  CREATE INDEX job_listed ON job
    (created_at, number${only({ sqlite: ', kind, state, tenant, caller, retention_policy, dry_run, types' })});`,
  ];
}

const CURRENT_MODEL =
  'FOREIGN KEY (id, current_version) REFERENCES model_version (model_id, number) DEFERRABLE INITIALLY DEFERRED';
const CURRENT_CONTEXT =
  'FOREIGN KEY (id, current_version) REFERENCES context_version (context_id, number) DEFERRABLE INITIALLY DEFERRED';

/** Tables whose rows refer to texts. */
const NAMING_CONTENT = [
  'model_version',
  'model_uses_reference',
  'context_version',
  'reference',
  'model_own_context',
  'model_example',
];

/** Those of them in which a row may get another text. */
const CHANGING_CONTENT = ['reference', 'model_own_context', 'model_example'];

const FORGET = `DELETE FROM content
    WHERE sha256 = OLD.sha256 AND NOT EXISTS (SELECT 1 FROM named_content WHERE named_content.sha256 = OLD.sha256);`;

const FORGET_CONTENT = `CREATE FUNCTION forget_content() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    ${FORGET}
    RETURN NULL;
  END $$;`;

function forgetting(event: 'DELETE' | 'UPDATE OF sha256', table: string, { only }: SqlDialect): string {
  const effect = only({
    sqlite: `BEGIN ${FORGET} END`,
    postgres: 'FOR EACH ROW EXECUTE FUNCTION forget_content()',
  });
  const name = `${table}_forgets_on_${event.slice(0, 6).toLowerCase()}`;
  return `CREATE TRIGGER ${name} AFTER ${event} ON ${table} ${effect};\n`;
}

/** SQLite provides these without tables. A write that must exclude all others updates the revision, and so locks its row. */
const ONE_ROW_TABLES = `CREATE TABLE revision (number bigint NOT NULL);
  INSERT INTO revision VALUES (0);
  CREATE TABLE write_check (number bigint NOT NULL);
  INSERT INTO write_check VALUES (0);
  CREATE TABLE last_copy (sha256 text NOT NULL);`;

/** Notifies other gateways of a waiting job, a change requested of a job, or a changed record. */
const NOTIFICATIONS = `CREATE FUNCTION notify_of_job() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE what text := 'record';
  BEGIN
    IF NEW.ended_at IS NULL AND NEW.held_until IS NULL THEN
      what := 'waiting';
    ELSIF TG_OP = 'UPDATE' AND NEW.request IS DISTINCT FROM OLD.request THEN
      what := 'request';
    END IF;
    PERFORM pg_notify('ngsi_ld_gateway_job', what || ' ' || NEW.id);
    RETURN NULL;
  END $$;
  CREATE TRIGGER job_notifies AFTER INSERT OR UPDATE OF record, request ON job
    FOR EACH ROW EXECUTE FUNCTION notify_of_job();`;
