import type { JsonValue } from '../store/records.js';
import type { ModelVersion } from '../store/records.js';
import type { ChangeKind, ModelWarning, VersionSummary } from './shapes.js';

/** What is kept with a model version, as found out when it was made. */
export interface VersionMetadata {
  readonly dialect: VersionSummary['dialect'];
  /** From the version before. */
  readonly change?: ChangeKind;
  readonly warnings: readonly ModelWarning[];
}

export function storedMetadata({ warnings, ...rest }: VersionMetadata): JsonValue {
  return { ...rest, warnings: warnings.map((warning) => ({ ...warning })) };
}

/** Nothing but {@link storedMetadata} writes it. */
function metadataOf({ metadata }: ModelVersion): VersionMetadata {
  return metadata as unknown as VersionMetadata;
}

export function warningsOf(version: ModelVersion): readonly ModelWarning[] {
  return metadataOf(version).warnings;
}

export function summaryOf(version: ModelVersion): VersionSummary {
  const { number, createdAt, description, schema, references } = version;
  const { dialect, change } = metadataOf(version);
  return {
    number,
    createdAt,
    description,
    dialect,
    ...schema,
    change,
    references: references.map(({ uri }) => uri),
  };
}
