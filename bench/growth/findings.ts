import { Ajv2020 } from 'ajv/dist/2020.js';
import { request } from 'undici';
import { getPage } from '../support/broker-requests.js';
import { startBroker } from '../support/broker.js';
import { sized } from '../support/command.js';
import { startGateway } from '../support/gateway.js';
import { cpuTimed, Curves, minimumOf, type GrowthBench } from './part.js';

const TYPE = 'Scanned';
const ATTRIBUTES = sized({ quick: 30, default: 300 });
const FINDINGS = sized({ quick: [1, 10, 30], default: [1, 10, 30, 100, 300] });
const AMOUNT = 1_000;
const SCAN = 'scan';
const BARE = 'JSON.parse and Ajv with allErrors, counted by place';

/** The CPU time of a scan by the number of its findings; every entity has all of them. */
export const scanFindings: GrowthBench = async ({ rounds, log }) => {
  const curves = new Curves([SCAN, BARE], (name) => name === BARE);
  const broker = await startBroker(0);
  const gateway = await startGateway(broker.url);
  try {
    await broker.seed(TYPE, AMOUNT, ATTRIBUTES);
    for (const findings of FINDINGS) {
      log(`${findings} findings`);
      const schema = schemaWith(findings);
      const bare = async () => cpuTimed(process.pid, async () => judged(broker.url, schema, findings));
      const scan = async () => cpuTimed(gateway.pid, async () => scanned(gateway.url, schema, findings));
      curves.add(BARE, findings, await minimumOf(rounds, bare));
      curves.add(SCAN, findings, await minimumOf(rounds, scan));
    }
  } finally {
    await gateway.close();
    await broker.close();
  }
  const title = `CPU time of a scan of ${AMOUNT.toLocaleString('en')} entities of ${ATTRIBUTES} attributes`;
  return [
    { name: 'findings', title, x: 'findings, each in every entity', y: 'ms of a core', curves: curves.all() },
  ];
};

/** Returns a schema by which `findings` attributes have the wrong type. */
function schemaWith(findings: number): object {
  const names = Array.from({ length: findings }, (_, number) => `attribute${number}`);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      type: { const: TYPE },
      ...Object.fromEntries(names.map((name) => [name, { type: 'boolean' }])),
    },
  };
}

async function judged(brokerUrl: string, schema: object, findings: number): Promise<void> {
  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  const entities = (await getPage(brokerUrl, `type=${TYPE}&limit=${AMOUNT}`)) as readonly object[];
  const counts = new Map<string, number>();
  for (const entity of entities) {
    const values = Object.entries(entity).map(([name, given]: [string, string | { value: unknown }]) => [
      name,
      typeof given === 'string' ? given : given.value,
    ]);
    validate(Object.fromEntries(values));
    for (const { instancePath, keyword } of validate.errors ?? []) {
      const place = `${instancePath} ${keyword}`;
      counts.set(place, (counts.get(place) ?? 0) + 1);
    }
  }
  demand(counts.size, findings);
}

async function scanned(url: string, schema: object, findings: number): Promise<void> {
  const started = await request(`${url}/api/v2/scans`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `type=${TYPE}`, schema }),
  });
  const { id } = (await started.body.json()) as { readonly id: string };
  await (await request(`${url}/api/v2/scans/${id}/events`)).body.dump({ limit: Infinity });
  const record = (await (await request(`${url}/api/v2/scans/${id}`)).body.json()) as {
    readonly findings: readonly unknown[];
  };
  demand(record.findings.length, findings);
}

function demand(found: number, wanted: number): void {
  if (found !== wanted) throw new Error(`There are ${found} findings, not ${wanted}.`);
}
