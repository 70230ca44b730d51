/**
 * The plugin's configuration. There is one definition of each field, from which Kong's schema (checked by Kong when it starts),
 * the TypeScript type and the plugin's own check are derived. Kong resolves vault references only after its own checks, so a
 * value can still be wrong here: a reference that cannot be resolved arrives as "".
 */

/** A Lua pattern that must not match, and the message that Kong shows if it does. */
interface Forbidden {
  readonly pattern: string;
  readonly err: string;
}

interface StringField {
  readonly type: 'string';
  readonly description: string;
  readonly required?: true;
  readonly referenceable?: true;
  readonly encrypted?: true;
  readonly len_min?: number;
  readonly len_max?: number;
  readonly match_none?: readonly Forbidden[];
  /** The only values that are accepted. */
  readonly one_of?: readonly string[];
}

interface IntegerField {
  readonly type: 'integer';
  readonly description: string;
  readonly required?: true;
  readonly default?: number;
  readonly between: readonly [min: number, max: number];
}

interface BooleanField {
  readonly type: 'boolean';
  readonly description: string;
  readonly required?: true;
  readonly default?: boolean;
}

/** One field, with the attributes of Kong's own schema language. */
export type FieldDefinition = StringField | IntegerField | BooleanField;

/** The largest timeout Kong's PDK accepts, in milliseconds. */
const MAX_TIMEOUT_MS = 2_147_483_646;

/** Every field, in the order of the documentation. The limits and the token have the same bounds as the sidecar's settings. */
export const fieldDefinitions = {
  sidecar_host: {
    type: 'string',
    required: true,
    description:
      'Host name or IP address of the sidecar that carries out purges, without scheme, port or path.',
    match_none: [
      { pattern: '[^%w%.%-_:%[%]]', err: 'must be a host name or an IP address, without scheme or path' },
      {
        pattern: '^[^%[]*:',
        err: 'must not contain a port (use sidecar_port); an IPv6 address needs brackets',
      },
    ],
  },
  sidecar_port: {
    type: 'integer',
    required: true,
    default: 8080,
    between: [1, 65_535],
    description: 'TCP port of the sidecar.',
  },
  gateway_token: {
    type: 'string',
    referenceable: true,
    encrypted: true,
    description:
      'Shared secret sent to the sidecar as X-Gateway-Token; the same as its GATEWAY_TOKEN. Best given as a vault reference.',
    len_min: 8,
    len_max: 1024,
    match_none: [{ pattern: '[%s%c,]', err: 'must not contain white space, commas or control characters' }],
  },
  connect_timeout_ms: {
    type: 'integer',
    required: true,
    default: 5_000,
    between: [1, MAX_TIMEOUT_MS],
    description: 'Milliseconds to wait for a connection to the sidecar.',
  },
  read_timeout_ms: {
    type: 'integer',
    required: true,
    default: 3_600_000,
    between: [1, MAX_TIMEOUT_MS],
    description:
      'Milliseconds to wait for the answer to a purge. A purge answers when it is done: allow for your largest one.',
  },
  max_affected: {
    type: 'integer',
    between: [1, 2_147_483_647],
    description: 'Refuse a purge that matches more than this, before its first delete.',
  },
  page_size: {
    type: 'integer',
    between: [1, 1_000_000],
    description: 'Maximum number of entities that the sidecar may request from the broker in one query page.',
  },
  batch_size: {
    type: 'integer',
    between: [1, 100_000],
    description: 'Maximum number of ids that the sidecar may put into one batch delete.',
  },
  concurrency: {
    type: 'integer',
    between: [1, 256],
    description: 'Maximum number of concurrent delete requests for one purge of entities.',
  },
  temporal_concurrency: {
    type: 'integer',
    between: [1, 256],
    description: 'Maximum number of concurrent delete requests for one purge of temporal data.',
  },
  allow_temporal: {
    type: 'boolean',
    required: true,
    default: true,
    description: 'Whether purges of temporal data are allowed; if not, they are answered with 403.',
  },
  dry_run_only: {
    type: 'boolean',
    required: true,
    default: false,
    description:
      'Allow dry runs only: a purge without dryRun=true is answered with 403, and nothing is deleted.',
  },
  archive: {
    type: 'string',
    one_of: ['best-effort', 'required'],
    description:
      'The minimum that a purge must archive of what it deletes: best-effort, or required (what cannot be archived is not deleted).',
  },
  vouch_for_writes: {
    type: 'boolean',
    required: true,
    default: false,
    description:
      'Send writes under /ngsi-ld to the sidecar, which checks them, with the token and the name of their caller. For the routes of checked writes.',
  },
} as const satisfies Record<string, FieldDefinition>;

type Definitions = typeof fieldDefinitions;
type ValueOf<Field extends FieldDefinition> = {
  string: string;
  integer: number;
  boolean: boolean;
}[Field['type']];
type RequiredName = {
  [Name in keyof Definitions]: Definitions[Name] extends { required: true } ? Name : never;
}[keyof Definitions];

/** A checked configuration with defaults applied. Optional fields that are not set are missing. */
export type PluginConfig = { readonly [Name in RequiredName]: ValueOf<Definitions[Name]> } & {
  readonly [Name in Exclude<keyof Definitions, RequiredName>]?: ValueOf<Definitions[Name]>;
};

/** The `Schema` export: the fields in Kong's form, an array of records with one member each. */
export const Schema: readonly Readonly<Record<string, FieldDefinition>>[] = Object.entries(
  fieldDefinitions,
).map(([name, definition]) => ({ [name]: definition }));

/** The outcome of {@link parseConfig}. */
export type ParsedConfig =
  | { readonly ok: true; readonly config: PluginConfig }
  | {
      readonly ok: false;
      readonly mistakes: readonly string[];
      /**
       * The value of `vouch_for_writes` in an invalid configuration. If it is true, writes must not be forwarded without their
       * callers.
       */
      readonly vouchesForWrites?: boolean;
    };

/**
 * Checks the configuration that Kong passes. Never throws.
 *
 * Ignores members that are not fields (`__key__`, `route_id`, `$refs` …), which Kong adds.
 */
export function parseConfig(raw: unknown): ParsedConfig {
  if (typeof raw !== 'object' || raw === null)
    return { ok: false, mistakes: ['the configuration is not an object'] };
  const given = new Map<string, unknown>(Object.entries(raw));
  const checked: Record<string, unknown> = {};
  const mistakes: string[] = [];
  for (const [name, definition] of Object.entries<FieldDefinition>(fieldDefinitions)) {
    const value = given.get(name) ?? ('default' in definition ? definition.default : undefined);
    const mistake = value === undefined ? missing(definition) : wrong(value, definition);
    if (mistake !== undefined) mistakes.push(`${name} ${mistake}`);
    else if (value !== undefined) checked[name] = value;
  }
  // Each value has just been checked against the definition from which its type is derived.
  return mistakes.length > 0
    ? { ok: false, mistakes, vouchesForWrites: given.get('vouch_for_writes') === true }
    : { ok: true, config: checked as PluginConfig };
}

function missing(definition: FieldDefinition): string | undefined {
  return definition.required === true ? 'is missing' : undefined;
}

/** Returns what is wrong with a value. Never repeats the value, which may be the secret. */
function wrong(value: unknown, definition: FieldDefinition): string | undefined {
  switch (definition.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'is not a boolean';
    case 'integer': {
      if (typeof value !== 'number' || !Number.isInteger(value)) return 'is not an integer';
      const [min, max] = definition.between;
      return value >= min && value <= max ? undefined : `is not between ${min} and ${max}`;
    }
    case 'string':
      if (typeof value !== 'string') return 'is not a string';
      if (value === '') return 'is empty (a vault reference that cannot be resolved arrives empty)';
      // The strings become part of a header or an address: visible ASCII only. To the sidecar, a comma separates two tokens.
      if (!/^[\x21-\x2b\x2d-\x7e]+$/.test(value))
        return 'contains white space, a comma, control or non-ASCII characters';
      if (definition.one_of?.includes(value) === false)
        return `is not one of ${definition.one_of.join(', ')}`;
      return isTooShortOrLong(value, definition)
        ? `is not between ${definition.len_min} and ${definition.len_max} characters long`
        : undefined;
  }
}

function isTooShortOrLong({ length }: string, { len_min = 0, len_max = Infinity }: StringField): boolean {
  return length < len_min || length > len_max;
}
