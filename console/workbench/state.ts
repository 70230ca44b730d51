import { routeTo } from '../shared/router.js';
import { text as strings } from '../strings.js';

export const FORMS = ['', 'normalized', 'concise', 'keyvalues', 'ngsiv2', 'geojson'] as const;
export const CONTEXTS = ['own', 'core', 'url', 'inline'] as const;

/** What is on the workbench. */
export interface Workbench {
  readonly text: string;
  /** `Domain/Model`; empty to use the model of the entity's type. */
  readonly model: string;
  /** Empty to detect it. */
  readonly form: (typeof FORMS)[number];
  readonly isStrict: boolean;
  readonly context: (typeof CONTEXTS)[number];
  /** The URL of the chosen context. */
  readonly url: string;
  readonly inline: string;
}

/** What the panels of the workbench get. */
export interface PanelProps {
  readonly workbench: Workbench;
  readonly onChange: (change: Partial<Workbench>) => void;
}

export const EMPTY_WORKBENCH: Workbench = {
  text: '',
  model: '',
  form: '',
  isStrict: true,
  context: 'own',
  url: '',
  inline: '{}',
};

/** What was on the workbench when another page was opened; a reload clears it. */
let saved = EMPTY_WORKBENCH;

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
