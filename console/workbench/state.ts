import { routeTo } from '../shared/router.js';
import { text as strings } from '../strings.js';

export const FORMS = ['', 'normalized', 'concise', 'keyvalues', 'ngsiv2', 'geojson'] as const;
export const CONTEXTS = ['own', 'core', 'url', 'inline'] as const;

/** What is on the workbench at first. */
export const EMPTY_WORKBENCH = {
  text: '',
  /** `Domain/Model`; empty to use the model of the entity's type. */
  model: '',
  /** Empty to detect it. */
  form: '' as (typeof FORMS)[number],
  isStrict: true,
  context: 'own' as (typeof CONTEXTS)[number],
  /** The URL of the chosen context. */
  url: '',
  inline: '{}',
};
export type Workbench = Readonly<typeof EMPTY_WORKBENCH>;

/** What the panels of the workbench get. */
export interface PanelProps {
  readonly workbench: Workbench;
  readonly onChange: (change: Partial<Workbench>) => void;
}

/** What was on the workbench when another page was opened; a reload clears it. */
let saved: Workbench = EMPTY_WORKBENCH;

/** What is on the workbench. */
export function savedWorkbench(): Workbench {
  return saved;
}

/** Puts something on the workbench, for its page to show. */
export function saveWorkbench(workbench: Workbench): void {
  saved = workbench;
}

/** Opens the workbench with a new content. */
export function openInWorkbench(content: Partial<Workbench>): void {
  saveWorkbench({ ...EMPTY_WORKBENCH, ...content });
  location.hash = routeTo(['workbench']);
}

/** The core context of NGSI-LD 1.9, which the gateway has. */
export const CORE_CONTEXT = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.9.jsonld';

/** An example entity. */
export const EXAMPLE = `{
  "@context": "${CORE_CONTEXT}",
  "id": "urn:ngsi-ld:Bike:1",
  "type": "Bike",
  "speed": {"type": "Property", "value": 12.5, "unitCode": "KMH"},
  "owner": {"type": "Relationship", "object": "urn:ngsi-ld:Person:1"}
}
`;

/** Returns the domain and the name of the model; undefined if the text does not name one. */
export function parseModel(text: string): readonly [string, string] | undefined {
  const [domain = '', name = '', ...rest] = text.trim().split('/');
  return domain === '' || name === '' || rest.length > 0 ? undefined : [domain, name];
}

/** Returns the error in the name of the model, if there is one. */
export function modelError({ model }: Workbench): string | undefined {
  return model.trim() === '' || parseModel(model) !== undefined ? undefined : strings.workbench.modelWrong;
}
