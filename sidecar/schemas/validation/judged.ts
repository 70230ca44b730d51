/** What is wrong with an entity, as `/validate` says it. */
export interface JudgedError {
  readonly pointer: string;
  readonly keyword: string;
  readonly detail: string;
}

export interface JudgedEntity {
  readonly id: string;
  readonly type: string;
  /** The first of them. */
  readonly errors: readonly JudgedError[];
}

/** Something that is wrong with some of the entities in the same way. */
export interface JudgedFinding extends JudgedError {
  /** Position among the models. */
  readonly model: number;
  readonly entities: number;
  readonly sample: readonly string[];
  /** Positions among the entities that are reported. */
  readonly reported: readonly number[];
}

/** Entities that no model judges. */
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

/** What the entities of a page are worth. */
export interface Judged {
  readonly valid: number;
  readonly invalid: number;
  /** For each of the models. */
  readonly models: readonly { readonly valid: number; readonly invalid: number }[];
  readonly findings: readonly JudgedFinding[];
  readonly entities: readonly JudgedEntity[];
  readonly others: readonly JudgedOthers[];
  readonly unreadable: readonly JudgedUnreadable[];
}

/** Keywords whose errors are about a member that the pointer does not name: one more is another finding. */
const NAMING_OTHERS: ReadonlySet<string> = new Set(['required', 'dependentRequired', 'dependencies']);

/** Whether two errors at one place may be about different things, which the detail names. */
export function namesOthers(keyword: string): boolean {
  return NAMING_OTHERS.has(keyword);
}

/** What identifies a finding of a model: one more that says the same is the same. */
export function findingKey({ pointer, keyword, detail }: JudgedError): string {
  return JSON.stringify([pointer, keyword, NAMING_OTHERS.has(keyword) ? detail : undefined]);
}
