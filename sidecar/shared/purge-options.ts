/**
 * The table of purge options: everything that can be requested of a purge besides its query. The parser, the OpenAPI
 * description, the command line, the console and docs/purges.md are based on it.
 */

/** Where an option can be given: the query of a purge, POST /purges, PATCH of a purge, a retention policy, the console. */
export type OptionPlace = 'query' | 'body' | 'change' | 'retention' | 'console';

export interface PurgeOption {
  /** A whole number from 1, true or false, or one of the listed words. */
  readonly type: 'count' | 'flag' | readonly string[];
  readonly max?: number;
  readonly unit?: string;
  readonly allowedIn: readonly OptionPlace[];
  /** The flag of the `purge` command, with the name of its value. */
  readonly flag?: string;
  readonly help?: string;
  /** The member of X-Purge-Policy that limits the option. */
  readonly policy?: string;
  /** Only matters for deletes, so a preview does not use it. */
  readonly isForDeletes?: true;
  readonly meaning: string;
  /** The label of the field in the console. */
  readonly label?: string;
  readonly hint?: string;
}

export const PURGE_OPTIONS = {
  maxAffected: {
    type: 'count',
    unit: 'items',
    allowedIn: ['query', 'body', 'retention', 'console'],
    flag: '--max-affected <n>',
    help: 'refuse a purge that matches more',
    policy: 'max-affected',
    meaning: 'A purge that matches more is refused before its first delete.',
    label: 'At most',
    hint: 'refused if more match',
  },
  maxPerSecond: {
    type: 'count',
    unit: 'items per second',
    allowedIn: ['query', 'body', 'change', 'retention', 'console'],
    flag: '--rate <n>',
    help: 'maximum deletes per second',
    isForDeletes: true,
    meaning: 'Maximum deletes per second.',
    label: 'Per second',
    hint: 'no limit unless given',
  },
  dryRun: {
    type: 'flag',
    allowedIn: ['query', 'body'],
    flag: '--dry-run',
    help: 'count, show a sample, delete nothing',
    policy: 'dry-run-only',
    meaning: '`true`: nothing is deleted, the matches are counted.',
  },
  archive: {
    type: ['none', 'best-effort', 'required'],
    allowedIn: ['query', 'body', 'retention', 'console'],
    flag: '--archive <how>',
    help: 'archive what is deleted, so that it can be restored',
    policy: 'archive',
    isForDeletes: true,
    meaning:
      'Whether data is archived before it is deleted, so that it can be restored: `none`, `best-effort`, ' +
      'or `required` (what cannot be archived is not deleted). Never less than `PURGE_ARCHIVE`.',
    label: 'Archive',
    hint: 'so that it can be restored',
  },
  record: {
    type: ['ids'],
    allowedIn: ['query', 'body', 'console'],
    isForDeletes: true,
    meaning: '`ids`: keep a list of what is deleted, see `/purges/{purge}/ids`.',
    label: 'Keep a list of what was deleted',
  },
  concurrency: {
    type: 'count',
    max: 256,
    unit: 'requests',
    allowedIn: ['change'],
    policy: 'concurrency',
    meaning: 'Maximum number of concurrent delete requests.',
  },
} as const satisfies Record<string, PurgeOption>;

/** How much a purge archives, in ascending order. */
const ARCHIVE_MODES = PURGE_OPTIONS.archive.type;
export type ArchiveMode = (typeof ARCHIVE_MODES)[number];

/** Returns the mode that archives more. */
export function stricterArchive(one: ArchiveMode, other: ArchiveMode): ArchiveMode {
  return ARCHIVE_MODES.indexOf(one) > ARCHIVE_MODES.indexOf(other) ? one : other;
}

type Table = typeof PURGE_OPTIONS;
export type PurgeOptionName = keyof Table;

export type OptionIn<Where extends OptionPlace> = {
  [Name in PurgeOptionName]: Where extends Table[Name]['allowedIn'][number] ? Name : never;
}[PurgeOptionName];

type ValueOf<Type> = Type extends 'count'
  ? number
  : Type extends 'flag'
    ? boolean
    : Type extends readonly (infer Word)[]
      ? Word
      : never;

export type OptionValues<Where extends OptionPlace> = {
  readonly [Name in OptionIn<Where>]?: ValueOf<Table[Name]['type']> | undefined;
};

type SchemaOf<Type> = Type extends 'count'
  ? { readonly type: 'integer'; readonly minimum: 1; readonly maximum: number }
  : Type extends 'flag'
    ? { readonly type: 'boolean' }
    : { readonly type: 'string'; readonly enum: Type };

/** The largest count: fifteen digits, so that every number is exact. */
export const MAX_COUNT = 999_999_999_999_999;

const NAMES = Object.keys(PURGE_OPTIONS) as readonly PurgeOptionName[];

/** Returns an option, including optional members. */
export function purgeOption(name: PurgeOptionName): PurgeOption {
  return PURGE_OPTIONS[name];
}

/** Returns the command-line flag of an option, such as `--rate`; undefined for an option that is only part of the query. */
export function flagOf(name: PurgeOptionName): string | undefined {
  return purgeOption(name).flag?.split(' ', 1)[0];
}

/** Returns the options allowed in a place, in the order of the table. */
export function optionsIn<Where extends OptionPlace>(place: Where): readonly OptionIn<Where>[] {
  return NAMES.filter((name): name is OptionIn<Where> => purgeOption(name).allowedIn.includes(place));
}

/** Returns the JSON Schemas of the options allowed in a place, by option name. */
export function optionSchemas<Where extends OptionPlace>(
  place: Where,
): { readonly [Name in OptionIn<Where>]: SchemaOf<Table[Name]['type']> & { readonly description: string } } {
  const schemas = optionsIn(place).map((name) => {
    const { type, max: most = MAX_COUNT, meaning } = purgeOption(name);
    if (type === 'count') return [name, { type: 'integer', minimum: 1, maximum: most, description: meaning }];
    const values = type === 'flag' ? { type: 'boolean' } : { type: 'string', enum: type };
    return [name, { ...values, description: meaning }];
  });
  return Object.fromEntries(schemas) as ReturnType<typeof optionSchemas<Where>>;
}

/** Picks the settings that are options allowed in a place and have a value. */
export function optionsOf<Where extends OptionPlace>(
  place: Where,
  settings: OptionValues<Where>,
): OptionValues<Where> {
  const given = optionsIn(place).filter((name) => settings[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, settings[name]])) as OptionValues<Where>;
}

/** Converts options to query parameters of a purge, skipping undefined ones. */
export function optionParameters(options: OptionValues<'query'>): readonly string[] {
  return Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${String(value)}`],
  );
}
