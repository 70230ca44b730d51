import { routeTo } from '../shared/router.js';
import { text as strings } from '../strings.js';

export const FORMS = ['', 'normalized', 'concise', 'keyvalues', 'ngsiv2', 'geojson'] as const;
export const CONTEXTS = ['own', 'core', 'url', 'inline'] as const;

/** What is on the workbench. */
export interface Bench {
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
export interface BenchProps {
  readonly bench: Bench;
  readonly onChange: (change: Partial<Bench>) => void;
}

export const EMPTY_BENCH: Bench = {
  text: '',
  model: '',
  form: '',
  isStrict: true,
  context: 'own',
  url: '',
  inline: '{}',
};

/** What was on the workbench when another page was opened; a reload clears it. */
let left = EMPTY_BENCH;

/** What is on the workbench. */
export function benchAsLeft(): Bench {
  return left;
}

/** Puts something on the workbench, for its page to show. */
export function putOnBench(bench: Bench): void {
  left = bench;
}

/** Opens the workbench with a new content. */
export function openInWorkbench(content: Partial<Bench>): void {
  putOnBench({ ...EMPTY_BENCH, ...content });
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
export function modelOf(text: string): readonly [string, string] | undefined {
  const [domain = '', name = '', ...rest] = text.trim().split('/');
  return domain === '' || name === '' || rest.length > 0 ? undefined : [domain, name];
}

/** Returns the error in the name of the model, if there is one. */
export function modelFault({ model }: Bench): string | undefined {
  return model.trim() === '' || modelOf(model) !== undefined ? undefined : strings.workbench.modelWrong;
}
