import { routeTo } from '../shared/router.js';
import { text } from '../strings.js';
import { Findings } from './findings.js';
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
