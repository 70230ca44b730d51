import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { ApiError } from '../../../sidecar/client/errors.js';
import { checkLines, type CheckView, failsCheck } from '../../../sidecar/cli/check-view.js';
import { differenceLines, reportLines } from '../../../sidecar/cli/import-view.js';
import { databaseNamed, databaseOf } from '../../../sidecar/cli/database-commands.js';
import { diffLines, hasChanges } from '../../../sidecar/cli/diff-view.js';
import { EXIT } from '../../../sidecar/cli/exit-codes.js';
import { storedLines, type StoredVerdict } from '../../../sidecar/cli/stored-check.js';
import { authorizationOf, brokerOf, engineConfig, gatewayOf } from '../../../sidecar/cli/settings.js';
import type { ChangeReport } from '../../../sidecar/schemas/json-schema/differences.js';
import type {
  ImportedFile,
  ImportReport,
  ImportSummary,
  UpdatedDependent,
} from '../../../sidecar/schemas/repository/transfer.js';
import { FakeContext } from '../../support/cli-context.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { listening } from '../../support/listening.js';

const DIFFERENCE: ChangeReport['differences'][number] = {
  pointer: '/properties/a',
  detail: 'a is a number now',
  class: 'breaking',
  reason: 'type',
};

interface Parts {
  readonly files?: readonly ImportedFile[];
  readonly dependents?: readonly UpdatedDependent[];
  readonly summary?: Partial<ImportSummary>;
}

function reportOf({ files = [], dependents = [], summary = {} }: Parts): ImportReport {
  const counts = { created: 0, updated: 0, unchanged: 0, refused: 0, ignored: 0, models: 0 };
  const examples = { valid: 0, invalid: 0, unchecked: 0, kept: 0, leftOut: 0 };
  return { summary: { dryRun: false, domains: ['D'], ...counts, examples, ...summary }, files, dependents };
}

it('a report lists refused files, invalid and unchecked examples, changes and dependents, then the counts', () => {
  const report = reportOf({
    summary: {
      created: 1200,
      updated: 2,
      unchanged: 3,
      refused: 1,
      models: 1,
      examples: { valid: 4, invalid: 1, unchecked: 1, kept: 5, leftOut: 1 },
    },
    files: [
      { path: 'a/schema.json', line: 7, status: 'refused', reason: 'No type.' },
      {
        path: 'b/schema.json',
        model: 'D/B',
        status: 'updated',
        change: 'breaking',
        differences: [DIFFERENCE],
        examples: {
          kept: 5,
          leftOut: [{ path: 'b/z.json', reason: 'It is too large.' }],
          valid: 1,
          invalid: [{ path: 'b/x.json', pointer: '/a', line: 3, detail: 'must be a number' }],
          unchecked: ['b/y.json'],
        },
      },
    ],
    dependents: [
      { domain: 'E', model: 'C', status: 'refused', reason: 'It has gone.' },
      { domain: 'E', model: 'F', status: 'unchanged', change: 'narrowing', differences: [DIFFERENCE] },
    ],
  });
  assert.deepEqual(reportLines(report), [
    'Refused: 1 file',
    '  a/schema.json:7: No type.',
    '',
    'Invalid examples: 1 file',
    '  b/x.json:3: /a must be a number',
    '',
    'Examples that were not checked because others took too long: 1 file',
    '  b/y.json',
    '',
    'Examples that are not kept: 1 file',
    '  b/z.json: It is too large.',
    '',
    'Models that changed',
    '  D/B: breaking',
    '    breaking, type: /properties/a: a is a number now',
    '',
    'Dependents of changed documents and contexts',
    '  E/C: refused. It has gone.',
    '  E/F: narrowing, by a changed context',
    '    breaking, type: /properties/a: a is a number now',
    '',
    '1 model in D. Files: 1,200 created, 2 updated, 3 unchanged, 1 refused. Examples: 4 valid, 1 invalid, 1 not checked, 5 kept.',
  ]);
  const last = reportLines(reportOf({ summary: { dryRun: true, domains: [], models: 2 } }));
  assert.deepEqual(last, [
    'Nothing to import was found. A model is a folder with a schema.json.',
    '2 models in no domain. Files: 0 would be created, 0 would be updated, 0 unchanged, 0 refused. Examples: 0 valid, 0 invalid, 0 would be kept.',
  ]);
});

it('a report lists fifty examples, and counts the others', () => {
  const lines = (count: number) => {
    const invalid = Array.from({ length: count }, (_, at) => ({
      path: `x${at}`,
      pointer: '',
      detail: 'bad',
    }));
    const files: ImportedFile[] = [
      { path: 'a', status: 'created', examples: { kept: 0, valid: 0, invalid } },
    ];
    return reportLines(reportOf({ files }));
  };
  assert.equal(lines(50).length, 53);
  assert.ok(!lines(50).some((line) => line.includes('more')));
  assert.deepEqual(lines(52).slice(50, 52), ['  x49:  bad', '  … and 2 more; --json has all.']);
});

it('text from a repository cannot break a line or control the terminal', () => {
  const hostile = 'a\u001b[2J\nb\u2066';
  const report = reportOf({
    files: [{ path: hostile, status: 'refused', reason: hostile }],
    dependents: [{ domain: 'D', model: 'M', status: 'refused', reason: hostile }],
  });
  for (const line of [...reportLines(report), ...diffLines(report)])
    assert.doesNotMatch(line, /[\u001b\n\u2066]/);
});

it('a difference has its class, its reason, and an entity that demonstrates it', () => {
  assert.deepEqual(
    differenceLines([
      { ...DIFFERENCE, class: 'narrowing', reason: 'range', pointer: '' },
      { ...DIFFERENCE, witness: { a: 'x'.repeat(500) } },
      { ...DIFFERENCE, witness: null },
    ]),
    [
      'narrowing, range: (whole): a is a number now',
      'breaking, type: /properties/a: a is a number now',
      `  no longer valid: ${`{"a":"${'x'.repeat(500)}`.slice(0, 400)}…`,
      'breaking, type: /properties/a: a is a number now',
      '  no longer valid: null',
    ],
  );
});

it('an import counts as different if it creates, updates or refuses anything, dependents included', () => {
  assert.equal(hasChanges(reportOf({ summary: { unchanged: 9 } })), false);
  for (const summary of [{ created: 1 }, { updated: 1 }, { refused: 1 }])
    assert.equal(hasChanges(reportOf({ summary })), true, JSON.stringify(summary));
  for (const [status, isSo] of [
    ['updated', true],
    ['refused', true],
    ['unchanged', false],
  ] as const) {
    const dependents: UpdatedDependent[] = [{ domain: 'D', model: 'M', status }];
    assert.equal(hasChanges(reportOf({ dependents })), isSo, status);
  }
});

it('a diff lists the change of each model and document, and leaves out unchanged ones', () => {
  const report = reportOf({
    summary: { created: 2, updated: 2, refused: 1 },
    files: [
      { path: 'new', model: 'D/New', status: 'created' },
      { path: 'same', model: 'D/Same', status: 'unchanged' },
      { path: 'worse', model: 'D/Worse', status: 'updated', change: 'breaking', differences: [DIFFERENCE] },
      { path: 'plain', model: 'D/Plain', status: 'updated' },
      { path: 'reached', model: 'D/Reached', status: 'unchanged', change: 'narrowing' },
      { path: 'bad', model: 'D/Bad', status: 'refused', reason: 'No.' },
      { path: 'doc', url: 'https://a.example/doc', status: 'updated' },
      { path: 'ctx', context: 'D-context', status: 'created' },
      { path: 'other', status: 'unchanged' },
      { path: 'wrong', status: 'refused', reason: 'Not JSON.' },
    ],
    dependents: [
      { domain: 'E', model: 'A', status: 'updated', change: 'compatible' },
      { domain: 'E', model: 'B', status: 'unchanged', change: 'breaking' },
      { domain: 'E', model: 'C', status: 'unchanged' },
    ],
  });
  assert.deepEqual(diffLines(report), [
    'D/New: new (new)',
    'D/Worse: breaking (worse)',
    '  breaking, type: /properties/a: a is a number now',
    '',
    'D/Plain: updated, without any effect on what is valid (plain)',
    'D/Reached: narrowing, by a changed context (reached)',
    'D/Bad: refused (bad)',
    '  No.',
    '',
    'E/A: compatible, by a changed document',
    'E/B: breaking, by a changed context',
    'Shared documents, contexts and other files',
    '  https://a.example/doc: would be updated (doc)',
    '  D-context: would be created (ctx)',
    '  wrong: refused. Not JSON.',
    '',
    '6 models in D: 1 would be created, 2 would be updated, 1 unchanged, 1 changed by a context. Files refused: 1.',
  ]);
});

it('a change fails a check if it is as severe as the given level', () => {
  const failing = (failOn: 'narrowing' | 'breaking' | 'never') =>
    (['compatible', 'narrowing', 'breaking'] as const).filter((change) => failsCheck(change, failOn));
  assert.deepEqual(failing('narrowing'), ['narrowing', 'breaking']);
  assert.deepEqual(failing('breaking'), ['breaking']);
  assert.deepEqual(failing('never'), []);
});

const VIEW: CheckView = {
  format: 'github',
  folders: new Map([['data', './data']]),
  leftOut: [],
  failOn: 'breaking',
};

it('an annotation escapes separators and line breaks, and its path is relative to the folder of the check', () => {
  const report = reportOf({
    summary: { refused: 1 },
    files: [
      { path: 'data/a,b:c.json', line: 7, status: 'refused', reason: '100%\r\nof, it: all' },
      { path: 'data/x.json', status: 'refused' },
    ],
  });
  assert.deepEqual(checkLines(report, { ...VIEW, leftOut: ['data/l is a link.\n'] }), [
    '::error file=data/a%2Cb%3Ac.json,line=7,title=Refused::100%25%0D%0Aof, it: all',
    '::error file=data/x.json,title=Refused::',
    '::error title=Left out::data/l is a link.%0A',
    reportLines(report).at(-1),
  ]);
  for (const [folders, file] of [
    [{ dat: 'other/dat', data: 'far/data' }, 'far/data/a%2Cb'],
    // For example, the folder in which the check was started.
    [{ data: '.', other: 'other' }, 'a%2Cb'],
    [{ data: '../data/' }, '../data/a%2Cb'],
    [{}, 'data/a%2Cb'],
  ] as const) {
    const [line = ''] = checkLines(report, { ...VIEW, folders: new Map(Object.entries(folders)) });
    assert.ok(line.startsWith(`::error file=${file}`), line);
  }
});

it('an annotation is an error if the change fails the check, and a warning if the change is narrowing and does not', () => {
  const of = (change: 'narrowing' | 'breaking') => ({ ...DIFFERENCE, class: change });
  const files = (['narrowing', 'breaking'] as const).map((change): ImportedFile => ({
    path: `data/${change}.json`,
    status: 'updated',
    change,
    differences: [of(change)],
  }));
  const dependents: UpdatedDependent[] = [
    ...(['narrowing', 'breaking'] as const).map((change): UpdatedDependent => ({
      domain: 'E',
      model: change,
      status: 'updated',
      change,
      differences: [of(change)],
    })),
    { domain: 'E', model: 'Gone', status: 'refused', reason: 'No: 5%.', change: 'compatible' },
  ];
  const lines = (failOn: CheckView['failOn']) =>
    checkLines(reportOf({ files, dependents }), { ...VIEW, failOn })
      .slice(0, -1)
      .map((line) => line.replace(/::\/properties.*|: \/properties.*/, ''));
  const worse = '::error title=Change of a dependent%3A';
  const refused = '::error title=Dependent refused::E/Gone: No: 5%25.';
  const [narrowing, breaking] = ['narrowing', 'breaking'].map(
    (change) => `file=data/${change}.json,title=Change%3A ${change}`,
  );
  assert.deepEqual(lines('narrowing'), [
    `::error ${narrowing}`,
    `::error ${breaking}`,
    `${worse} narrowing::E/narrowing`,
    `${worse} breaking::E/breaking`,
    refused,
  ]);
  assert.deepEqual(lines('breaking'), [
    `::warning ${narrowing}`,
    `::error ${breaking}`,
    `${worse} breaking::E/breaking`,
    refused,
  ]);
  assert.deepEqual(lines('never'), [`::warning ${narrowing}`, `::warning ${breaking}`, refused]);
});

it('an annotation of a difference has the class of that difference, whatever else changes in the model', () => {
  const differences = (['compatible', 'narrowing', 'breaking'] as const).map((one) => {
    return { ...DIFFERENCE, class: one };
  });
  const file = { path: 'data/x.json', status: 'updated', change: 'breaking', differences } as const;
  const lines = checkLines(reportOf({ files: [file] }), VIEW).slice(0, -1);
  assert.deepEqual(
    lines.map((line) => line.replace(/::\/properties.*/, '')),
    ['notice', 'warning', 'error'].map((level, index) => {
      return `::${level} file=data/x.json,title=Change%3A ${differences[index]?.class ?? ''}`;
    }),
  );
});

it('an annotation names every example that is invalid, unchecked or not stored', () => {
  const invalid = [{ path: 'data/x.json', pointer: '/a', line: 3, detail: 'is wrong' }];
  const files: ImportedFile[] = [
    {
      path: 'data/s.json',
      status: 'unchanged',
      examples: {
        kept: 0,
        leftOut: [{ path: 'data/z.json', reason: 'It is too large.' }],
        valid: 0,
        invalid,
        unchecked: ['data/y.json'],
      },
    },
  ];
  assert.deepEqual(checkLines(reportOf({ files }), VIEW).slice(0, 3), [
    '::error file=data/x.json,line=3,title=Example is not valid::/a is wrong',
    '::error file=data/y.json,title=Example was not checked::Other examples took too long.',
    '::warning file=data/z.json,title=Example would not be kept::It is too large.',
  ]);
});

it('a URL of a gateway or broker is http or https, without a query, a fragment or credentials', () => {
  for (const text of [
    '',
    'gateway',
    'ftp://g/',
    'file:///x',
    'http://g/?a=b',
    'http://g/#x',
    'localhost:8080',
    'http://user@g/',
    'http://:secret@g/',
    'http://u:secret@g/',
  ]) {
    const refused = (error: unknown) => {
      assert.ok(error instanceof Error && 'exitCode' in error);
      assert.equal(error.exitCode, EXIT.usage);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    };
    assert.throws(() => gatewayOf({ gateway: text }, {}), refused, text);
    assert.throws(() => brokerOf({ broker: text }), refused, text);
    if (text !== '') assert.throws(() => gatewayOf({}, { NGSILD_GATEWAY_URL: text }), refused, text);
  }
  assert.notEqual(gatewayOf({ gateway: 'https://g/base' }, {}), undefined);
  assert.equal(gatewayOf({}, { NGSILD_GATEWAY_URL: '' }), undefined);
});

it('a gateway is named by its base URL', () => {
  for (const path of ['/api/v2', '/api/v2/', '/console/', '/ngsi-ld/v1'])
    assert.throws(() => gatewayOf({ gateway: `http://g/prefix${path}` }, {}), {
      message: `--gateway is the base URL of the gateway, without ${path}.`,
    });
});

it('a broker is named by its base URL, and not together with a gateway', () => {
  assert.equal(brokerOf({}), undefined);
  assert.equal(brokerOf({ broker: 'http://b:1026/orion' })?.href, 'http://b:1026/orion');
  for (const broker of ['http://b/ngsi-ld', 'http://b/ngsi-ld/v1', 'http://b/x/ngsi-ld/v1/entities'])
    assert.throws(() => brokerOf({ broker }), { exitCode: EXIT.usage }, broker);
  assert.throws(() => brokerOf({ broker: 'http://b', gateway: 'http://g' }), { exitCode: EXIT.usage });
});

it('an empty Authorization counts as not set', () => {
  assert.equal(authorizationOf({ NGSILD_AUTHORIZATION: '' }), undefined);
  assert.equal(authorizationOf({ NGSILD_AUTHORIZATION: 'Bearer b\n' }), 'Bearer b');
});

it('a secret that a header field cannot hold is refused, and not repeated in the message', () => {
  for (const secret of ['se\ncret', 'secrét', 'se\u0000cret'])
    for (const name of ['NGSILD_GATEWAY_TOKEN', 'NGSILD_AUTHORIZATION'])
      assert.throws(() => gatewayOf({ gateway: 'http://g/' }, { [name]: secret }), {
        message: `${name} contains characters that are not allowed in a header field.`,
      });
});

it('redirects of the gateway are not followed, so that no other server gets the token', async (t) => {
  const reached: string[] = [];
  const other = await serving(t, ({ url = '' }, response) => {
    reached.push(url);
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
  });
  for (const status of [301, 302, 303, 307, 308]) {
    const gateway = await serving(t, ({ url = '' }, response) => {
      response.writeHead(status, { location: `${other}${url}` }).end();
    });
    const client = gatewayOf({ gateway }, { NGSILD_GATEWAY_TOKEN: 'secret-token' });
    const answer = client?.json('get', '/purges');
    await assert.rejects(answer ?? assert.fail(), (error: unknown) => {
      assert.ok(error instanceof ApiError, String(error));
      assert.equal(error.problem.status, status);
      return true;
    });
  }
  assert.deepEqual(reached, []);
});

it('a purge directly at a broker uses the limits of the environment, but not its broker or port', () => {
  const broker = new URL('http://127.0.0.1:8080/');
  const env = {
    PURGE_MAX_AFFECTED: '7',
    RETRY_MAX_ATTEMPTS: '2',
    BROKER_TIMEOUT_MS: '99',
    BROKER_URL: 'http://other:1',
    PORT: '8080',
    HOST: '0.0.0.0',
    NGSILD_GATEWAY_URL: 'x',
  };
  const config = engineConfig(env, broker);
  assert.deepEqual(
    [
      config.PURGE_MAX_AFFECTED,
      config.RETRY_MAX_ATTEMPTS,
      config.BROKER_TIMEOUT_MS,
      String(config.BROKER_URL),
    ],
    [7, 2, 99, broker.href],
  );
  assert.throws(
    () => engineConfig({ PURGE_MAX_AFFECTED: 'x', RETRY_MAX_ATTEMPTS: '-1' }, broker),
    (error) => {
      assert.ok(error instanceof Error && 'exitCode' in error && error.exitCode === EXIT.usage);
      assert.match(error.message, /RETRY_MAX_ATTEMPTS[^]*PURGE_MAX_AFFECTED/);
      return true;
    },
  );
});

it('migrate with a mistyped path creates nothing', async () => {
  const folder = temporaryFolder();
  const context = new FakeContext();
  assert.equal(await context.run('migrate', '--database', join(folder, 'x', 'schma.db')), EXIT.usage);
  assert.match(context.err, /^There is no database .*schma\.db\./);
  assert.deepEqual(readdirSync(folder), []);
});

it('a database is a path, sqlite:PATH or a PostgreSQL URL, and never in memory', () => {
  assert.deepEqual(databaseNamed('sqlite:./a.db', '--from'), { kind: 'sqlite', path: './a.db' });
  assert.deepEqual(databaseNamed('a.db', '--from'), { kind: 'sqlite', path: 'a.db' });
  for (const url of ['postgres://h/d', 'postgresql://h/d', 'POSTGRES://h/d'])
    assert.equal(databaseNamed(url, '--to').kind, 'postgres', url);
  for (const text of ['', 'sqlite:', ':memory:', 'sqlite::memory:'])
    assert.throws(() => databaseNamed(text, '--from'), { exitCode: EXIT.usage }, text);
  assert.throws(
    () => databaseNamed('postgres://u:secret@', '--to'),
    (error) => {
      assert.ok(
        error instanceof Error && !error.message.includes('secret') && error.message.startsWith('--to'),
      );
      return true;
    },
  );
});

it('a copy reads the file of DATABASE_PATH even if DATABASE_URL names the target', async () => {
  const env = { DATABASE_URL: 'postgres://127.0.0.1:9/d', DATABASE_PATH: '/nowhere/at/all.db' };
  const context = new FakeContext({ env });
  assert.equal(await context.run('copy'), EXIT.usage);
  assert.match(context.err, /\/nowhere\/at\/all\.db/);
  for (const words of [
    ['--from', 'postgres://h/d'],
    ['--to', 'sqlite:x.db'],
  ])
    assert.equal(await new FakeContext({ env }).run('copy', ...words), EXIT.usage);
});

it('the database of a gateway is DATABASE_URL, or else DATABASE_PATH, or else the default', () => {
  const path = { DATABASE_PATH: 'x.db' };
  assert.equal(databaseOf({ DATABASE_URL: 'postgres://h/d', ...path }).kind, 'postgres');
  assert.deepEqual(databaseOf({ DATABASE_URL: '', ...path }), { kind: 'sqlite', path: 'x.db' });
  for (const env of [{}, { DATABASE_PATH: '' }])
    assert.deepEqual(databaseOf(env), { kind: 'sqlite', path: './data/schema.db' });
});

/** A server on a free port until the end of the test. @returns its URL */
async function serving(t: TestContext, answer: RequestListener): Promise<string> {
  const { url, close } = await listening(createServer(answer));
  t.after(close);
  return url;
}

it('a verdict on stored entities counts those that are already invalid, in singular or plural', () => {
  const verdict: Omit<StoredVerdict, 'refused' | 'alreadyInvalid'> = {
    domain: 'D',
    model: 'Car',
    types: ['Car'],
    scan: 's',
    checked: 3,
    notJudged: 0,
    findings: [],
    ids: [],
    warnings: [],
    state: 'succeeded',
  };
  for (const [alreadyInvalid, words] of [
    [0, ''],
    [1, '; 1 of them is invalid already'],
    [2, '; 2 of them are invalid already'],
  ] as const)
    assert.equal(
      storedLines([{ ...verdict, refused: 2, alreadyInvalid }])[0],
      `D/Car would refuse 2 of 3 stored entities of type Car${words}.`,
    );
});
