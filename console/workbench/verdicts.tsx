import { shownPointer } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { text } from '../strings.js';
import type { Suggestion } from './suggestions.js';
import type { Finding, Verdict } from './workbench-api.js';

/** Maximum number of verdicts shown; entities with findings come first. */
const MOST = 50;

/** The findings for each entity. */
export function Verdicts({
  verdicts,
  onShow,
  onFix,
  onFixAll,
}: {
  readonly verdicts: readonly Verdict[];
  readonly onShow: (finding: Finding) => void;
  readonly onFix: (finding: Finding, suggestion: Suggestion) => void;
  readonly onFixAll: (findings: readonly Finding[]) => void;
}) {
  const t = text.workbench;
  const numbered = verdicts.map((verdict, index) => ({ verdict, index }));
  const ordered = [
    ...numbered.filter(({ verdict }) => findingsOf(verdict).length > 0),
    ...numbered.filter(({ verdict }) => findingsOf(verdict).length === 0),
  ];
  const suggesting = verdicts
    .flatMap(({ errors }) => errors)
    .filter(({ suggestion }) => suggestion !== undefined);
  return (
    <>
      {suggesting.length > 1 && (
        <p>
          <button type="button" onClick={() => onFixAll(suggesting)}>
            {t.fixAll(suggesting.length)}
          </button>
        </p>
      )}
      {ordered.slice(0, MOST).map(({ verdict, index }) => (
        <section key={index}>
          <h2 class="verdict">
            {verdicts.length > 1 && `${t.entityAt(index + 1)} `}
            <span class={verdict.valid ? 'chip good' : 'chip bad'}>
              {verdict.valid ? t.valid : t.notValid}
            </span>
            <span class="chip">{t.readAs(t.forms[verdict.form] ?? verdict.form)}</span>
          </h2>
          {verdict.models !== undefined && <Models models={verdict.models} />}
          <p class="hint">
            {t.errors(verdict.errors.length)}, {t.warnings(verdict.warnings.length)}
          </p>
          <Findings findings={findingsOf(verdict)} onShow={onShow} onFix={onFix} />
        </section>
      ))}
      {verdicts.length > MOST && <p class="hint">{t.more(verdicts.length - MOST)}</p>}
    </>
  );
}

export function findingsOf({ errors, warnings }: Verdict): readonly Finding[] {
  return [...errors, ...warnings];
}

function Models({ models }: { readonly models: readonly string[] }) {
  return (
    <p>
      {text.workbench.against}{' '}
      {models.map((model) => (
        <a key={model} href={routeTo(['models', ...model.split('/')])}>
          {model}
        </a>
      ))}
    </p>
  );
}

/** Maximum number of findings listed; the gateway sends at most a hundred per entity. */
const MOST_FINDINGS = 200;

/** The findings, each with its position, a sentence, and a fix if there is one. */
function Findings({
  findings,
  onShow,
  onFix,
}: {
  readonly findings: readonly Finding[];
  readonly onShow: (finding: Finding) => void;
  readonly onFix: (finding: Finding, suggestion: Suggestion) => void;
}) {
  const t = text.workbench;
  return (
    <ul class="bench-findings" aria-label={t.findings}>
      {findings.slice(0, MOST_FINDINGS).map((finding) => (
        <li key={`${finding.pointer} ${finding.detail}`}>
          <span class={'keyword' in finding ? 'chip bad' : 'chip warn'}>
            {'keyword' in finding ? t.error : t.warning}
          </span>
          <div>
            <button type="button" class="link" onClick={() => onShow(finding)}>
              <code>
                {finding.line}:{finding.column}
              </code>{' '}
              <code class="where">{shownPointer(finding.pointer)}</code>
            </button>
            <p>{finding.detail}</p>
            {finding.suggestion !== undefined && (
              <Fix suggestion={finding.suggestion} onFix={(one) => onFix(finding, one)} />
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Fix({
  suggestion,
  onFix,
}: {
  readonly suggestion: Suggestion;
  readonly onFix: (suggestion: Suggestion) => void;
}) {
  const t = text.workbench;
  const label =
    'name' in suggestion ? t.useName(suggestion.name) : t.useValue(JSON.stringify(suggestion.value));
  return (
    <button type="button" class="small" onClick={() => onFix(suggestion)}>
      {label}
    </button>
  );
}
