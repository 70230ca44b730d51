/** Invalid entities of a scan, as they are kept for a finding. */
export interface FoundEntity {
  readonly id: string;
  readonly type: string;
  readonly errors: readonly { readonly pointer: string; readonly keyword: string; readonly detail: string }[];
}

/** Entities of one finding that follow each other. */
export interface FoundEntities {
  /** Names the finding in its scan. */
  readonly finding: string;
  /** Position of the first of them among all that are kept of the finding. */
  readonly first: number;
  readonly entities: readonly FoundEntity[];
}

/** The entities of the findings of scans; they go with the record of their scan. */
export interface ScanEntities {
  /** Keeps entities. Nothing happens where another process has the scan. */
  keep(scan: string, lease: number, found: readonly FoundEntities[]): Promise<void>;
  /** Forgets all of a scan that begins anew. Nothing happens where another process has it. */
  clear(scan: string, lease: number): Promise<void>;
  /** How many are kept of a finding. */
  count(scan: string, finding: string): Promise<number>;
  /** The entities of a finding from a position on, some at least if there are any. */
  read(scan: string, finding: string, from: number): Promise<readonly FoundEntity[]>;
}
