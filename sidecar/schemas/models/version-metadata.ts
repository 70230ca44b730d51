import type { JsonValue } from '../../shared/json/json.js';
import type { ModelVersion } from '../../store/index.js';
import type { ContextWarning } from '../json-ld/context-warnings.js';
import type { TermWarning } from '../json-ld/generated-context.js';
import type { ChangeKind } from '../json-schema/differences.js';
import type { Dialect } from '../json-schema/keywords.js';

/** Something about a model that its author may not expect. */
export interface ModelWarning {
  /** As {@link TermWarning}; `other-type`: entities of the model cannot have its name as their type. */
  readonly code: TermWarning['code'] | ContextWarning['code'] | 'other-type';
  readonly detail: string;
  /** The name that the warning is about. */
  readonly term: string;
}

/** What is stored with a model version besides its texts. */
export interface VersionMetadata {
  /** The draft that the schema is written in. */
  readonly dialect: Dialect;
  /** What changed from the version before; undefined for the first. */
  readonly change?: ChangeKind;
  /** Names whose terms come from the model's own context, not from the generated one. */
  readonly ownTerms?: readonly string[];
  readonly warnings: readonly ModelWarning[];
}

/** The metadata as the store keeps it. */
export function storedMetadata({ warnings, ...rest }: VersionMetadata): JsonValue {
  return { ...rest, warnings: warnings.map((warning) => ({ ...warning })) };
}

/** The metadata of a stored version, which only {@link storedMetadata} makes. */
export function metadataOf({ metadata }: Pick<ModelVersion, 'metadata'>): VersionMetadata {
  const known = metadata as Partial<VersionMetadata> | null;
  return { dialect: '2020-12', warnings: [], ...known };
}
