import type { Schemas } from '../api/client.js';

export type Domain = Schemas['Domain'];
export type ListedDomain = Schemas['ListedDomain'];
export type DomainWarning = Schemas['DomainContextWarning'];
export type ModelSummary = Schemas['ModelSummary'];
export type Model = Schemas['Model'];
export type ModelVersion = Schemas['ModelVersion'];
export type ModelWarning = Schemas['ModelWarning'];
export type ModelDiff = Schemas['ModelDiff'];
export type ModelTrial = Schemas['ModelDryRun'];
export type UpdatedModel = Schemas['UpdatedModel'];
export type ChangeReport = Schemas['ChangeReport'];
export type Difference = Schemas['Difference'];
export type Verdict = Schemas['Verdict'];
export type StoredExample = Schemas['ModelExample'];
export type ImportReport = Schemas['ImportReport'];
export type ImportedFile = Schemas['ImportedFile'];
export type Compatibility = Domain['compatibility'];

export const COMPATIBILITIES = ['none', 'backward', 'forward', 'full'] as const;

/** Names a model. */
export interface ModelKey {
  readonly domain: string;
  readonly name: string;
}

/** Members of an update besides the schema; null takes one away. */
export type ModelSettings = Omit<Schemas['ModelChange'], 'schema'>;
export type NewDomain = Schemas['NewDomain'];
export type DomainChange = Schemas['DomainChange'];
