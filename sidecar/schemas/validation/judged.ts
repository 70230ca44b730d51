/** An error of an entity, in the same words as from `/validate`. */
export interface JudgedError {
  readonly pointer: string;
  readonly keyword: string;
  readonly detail: string;
}

/** An invalid entity that is reported individually. */
export interface JudgedEntity {
  readonly id: string;
  readonly type: string;
  /** The first few errors. */
  readonly errors: readonly JudgedError[];
}

/** An error that some of the entities have in the same way. */
export interface JudgedFinding extends JudgedError {
  /** Index of the model. */
  readonly model: number;
  readonly entities: number;
  /** Number of these entities that have a single value, which is valid as an array of one item. */
  readonly single: number;
  readonly sample: readonly string[];
  /** Indexes among the reported entities. */
  readonly reported: readonly number[];
}

/** Entities that no model judges, of one type. */
export interface JudgedOthers {
  readonly type: string;
  readonly isAmbiguous: boolean;
  readonly entities: number;
  readonly sample: readonly string[];
}

/** Entities whose JSON `/validate` would refuse to read, all for the same reason. */
export interface JudgedUnreadable {
  /** Completes "1 entity was not judged: …". */
  readonly why: string;
  readonly entities: number;
  readonly sample: readonly string[];
}

/** The results of judging the entities of a page. */
export interface Judged {
  readonly valid: number;
  readonly invalid: number;
  /** Counts for each model. */
  readonly models: readonly { readonly valid: number; readonly invalid: number }[];
  readonly findings: readonly JudgedFinding[];
  readonly entities: readonly JudgedEntity[];
  readonly others: readonly JudgedOthers[];
  readonly unreadable: readonly JudgedUnreadable[];
}

/**
 * Keywords whose errors are about a member that the pointer does not name. Such errors with different details are
 * different findings.
 */
const NAMING_OTHERS: ReadonlySet<string> = new Set(['required', 'dependentRequired', 'dependencies']);

/** Whether two errors at one place may be about different members, named in the detail. */
export function namesOthers(keyword: string): boolean {
  return NAMING_OTHERS.has(keyword);
}

/** The key of a finding within a model: errors with the same key are the same finding. */
export function findingKey({ pointer, keyword, detail }: JudgedError): string {
  return JSON.stringify([pointer, keyword, NAMING_OTHERS.has(keyword) ? detail : undefined]);
}
