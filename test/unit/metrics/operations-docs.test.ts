import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { createMetrics } from '../../../sidecar/metrics/metrics.js';
import { ROOT } from '../../support/project.js';
import { idle } from './series.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const read = (name: string): string => readFileSync(join(ROOT, 'docs/operations', name), 'utf8');

/** Each metric of the registry with its type. */
async function registered(): Promise<ReadonlyMap<string, string>> {
  const text = await createMetrics(idle()).text();
  return new Map(
    Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = '', type = '']) => [name, type]),
  );
}

/** The metrics that a query reads, without the suffixes of histograms. */
function metricsIn(query: string, known: ReadonlyMap<string, string>): readonly string[] {
  return Array.from(query.matchAll(/\bngsild_gateway_\w+/g), ([name]) => {
    const base = name.replace(/_(?:bucket|count|sum)$/, '');
    return known.get(base) === 'histogram' ? base : name;
  });
}

function expressionsOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    (key === 'expr' || key === 'query') && typeof member === 'string' ? [member] : expressionsOf(member),
  );
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

it('metrics.md lists exactly the metrics that exist', async () => {
  const listed = Array.from(
    read('metrics.md').matchAll(/^\| `(ngsild_gateway_\w+)` \|/gm),
    ([, name]) => name,
  );
  const isLinuxOnly = (name: string) => /_process_(?:virtual_memory|heap)_bytes$|_fds$/.test(name);
  const known = [...(await registered()).keys()];
  assert.deepEqual(
    listed.filter((name = '') => known.includes(name) || !isLinuxOnly(name)).sort(),
    known.sort(),
  );
});

it('alerts.yml has only rules whose metrics exist, each with the reason for its threshold and the action to take', async () => {
  const text = read('alerts.yml');
  const runbook = read('runbook.md');
  const { groups } = parse(text) as { groups: readonly { rules: readonly Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  const known = await registered();
  assert.ok(rules.length >= 10);
  for (const { alert, expr, labels, annotations } of rules) {
    const names = metricsIn(expr, known);
    assert.ok(names.length > 0, alert);
    for (const name of names) assert.ok(known.has(name), `${alert}: ${name}`);
    assert.match(text, new RegExp(`- alert: ${alert}\\n +# [^\\n]{30}`), `${alert} gives a reason`);
    assert.ok(['warning', 'critical'].includes(labels['severity'] ?? ''), alert);
    assert.ok(annotations['summary'] && annotations['description'], alert);
    assert.equal(annotations['runbook'], `docs/operations/runbook.md#${alert.toLowerCase()}`);
    assert.match(runbook, new RegExp(`^### ${alert}\\n\\n\\S`, 'm'), `${alert} is in the runbook`);
  }
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  assert.equal(runbook.match(/^### /gm)?.length, rules.length);
});

it('grafana-dashboard.json has only queries of existing metrics, in panels that do not overlap', async () => {
  const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
    panels: readonly { id: number; gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>> }[];
  };
  const known = await registered();
  const names = expressionsOf(dashboard).flatMap((query) => metricsIn(query, known));
  assert.ok(new Set(names).size >= 15);
  for (const name of names) assert.ok(known.has(name), name);
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)}/${y + Math.floor(n / w)}`),
  );
  assert.equal(new Set(cells).size, cells.length);
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
});

it('Prometheus accepts the rules, and the queries of the dashboard', (t) => {
  if (spawnSync('promtool', ['--version']).error) {
    t.skip('promtool is not installed');
    return;
  }
  const folder = temporaryFolder();
  const { panels } = JSON.parse(read('grafana-dashboard.json')) as { panels: unknown };
  const rules = expressionsOf(panels).map((query, n) => ({
    record: `panel:${n}`,
    expr: query.replace(/\$__(?:rate_interval|range)/g, '5m').replaceAll('$instance', '.*'),
  }));
  const queries = join(folder, 'queries.yml');
  writeFileSync(queries, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const { status, stderr } = spawnSync(
    'promtool',
    ['check', 'rules', '--lint=none', join(ROOT, 'docs/operations/alerts.yml'), queries],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
});

it('metrics.md, the alerts and the dashboard name only existing labels', async () => {
  const metrics = createMetrics(idle());
  metrics.requests.brokerAnswered({ method: 'GET', status: 200, ms: 1 });
  metrics.requests.passedThrough({ method: 'GET', status: 200, ms: 1 });
  metrics.requests.refused('token');
  metrics.writes.judged([{ policy: '', verdict: 'invalid', entities: 1 }], 1);
  metrics.writes.failed('', 'deadline');
  metrics.retention.ran('nightly', 'succeeded');
  const text = await metrics.text();
  const queries = [
    ...expressionsOf(parse(read('alerts.yml'))),
    ...expressionsOf(JSON.parse(read('grafana-dashboard.json'))),
  ];
  for (const query of queries) {
    for (const [, name = '', matchers = ''] of query.matchAll(/(ngsild_gateway_\w+)\{([^}]*)\}/g)) {
      for (const [, label = ''] of matchers.matchAll(/(\w+)=~?"/g)) {
        if (label === 'instance') continue; // added by Prometheus
        assert.match(text, new RegExp(`^${name}\\{[^}]*\\b${label}="`, 'm'), `${name} ${label}`);
      }
    }
  }
});
