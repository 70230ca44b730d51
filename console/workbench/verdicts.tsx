import { Button } from '../parts/button.js';
import { shownPointer } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { counted, text } from '../strings.js';
import type { Suggestion } from './fixes.js';
import type { Finding, Verdict } from './workbench-api.js';

/** Maximum number of verdicts shown; entities with findings come first. */
const MOST = 50;

/** Maximum number of findings listed; the gateway sends at most a hundred per entity. */
const MOST_FINDINGS = 200;

/** What can be done with a finding where the text can be edited. */
interface Actions {
  readonly onShow?: (finding: Finding) => void;
  readonly onFix?: (finding: Finding, suggestion: Suggestion) => void;
}

/** The findings for each entity. */
export function Verdicts({
  verdicts,
  onFixAll,
  ...actions
}: {
  readonly verdicts: readonly Verdict[];
  readonly onFixAll: (findings: readonly Finding[]) => void;
} & Actions) {
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
          <Button onClick={() => onFixAll(suggesting)} label={t.fixAll(suggesting.length)} />
        </p>
      )}
      {ordered.slice(0, MOST).map(({ verdict, index }) => (
        <VerdictView
          key={index}
          verdict={verdict}
          title={verdicts.length > 1 ? t.entityAt(index + 1) : ''}
          level="h2"
          {...actions}
        />
      ))}
      {verdicts.length > MOST && <p class="hint">{t.more(verdicts.length - MOST)}</p>}
    </>
  );
}

export function findingsOf({ errors, warnings }: Verdict): readonly Finding[] {
  return [...errors, ...warnings];
}

/** Whether an entity is valid, and why not. */
export function VerdictView({
  verdict,
  title = '',
  level: Heading = 'h3',
  ...actions
}: { readonly verdict: Verdict; readonly title?: string; readonly level?: 'h2' | 'h3' } & Actions) {
  const t = text.workbench;
  const { valid, form, models = [], errors, warnings } = verdict;
  return (
    <section>
      <Heading class="verdict">
        {title !== '' && `${title} `}
        <ValidChip isValid={valid} />
        <span class="chip">{t.readAs(t.forms[form])}</span>
      </Heading>
      {models.length > 0 && (
        <p>
          {t.against}{' '}
          {models.map((model) => (
            <a key={model} href={routeTo(['models', ...model.split('/')])}>
              {model}
            </a>
          ))}
        </p>
      )}
      <p class="hint">
        {counted(errors.length, 'errors')}, {counted(warnings.length, 'warnings')}
      </p>
      <ul class="bench-findings" aria-label={text.labels.findings}>
        {findingsOf(verdict)
          .slice(0, MOST_FINDINGS)
          .map((finding) => (
            <FindingItem key={`${finding.pointer} ${finding.detail}`} finding={finding} {...actions} />
          ))}
      </ul>
    </section>
  );
}

/** Whether an entity is valid. */
export function ValidChip({ isValid }: { readonly isValid: boolean }) {
  const { valid, notValid } = text.workbench;
  return <span class={isValid ? 'chip good' : 'chip bad'}>{isValid ? valid : notValid}</span>;
}

/** A finding with its position, a sentence, and a fix if there is one. */
function FindingItem({ finding, onShow, onFix }: { readonly finding: Finding } & Actions) {
  const t = text.workbench;
  const { line, column, pointer, detail, suggestion } = finding;
  const isError = 'keyword' in finding;
  const place = <code class="place">{shownPointer(pointer)}</code>;
  return (
    <li>
      <span class={isError ? 'chip bad' : 'chip warn'}>{isError ? t.error : t.warning}</span>
      <div>
        {onShow === undefined ? (
          place
        ) : (
          <button type="button" class="link" onClick={() => onShow(finding)}>
            <code>
              {line}:{column}
            </code>{' '}
            {place}
          </button>
        )}
        <p>{detail}</p>
        {suggestion !== undefined && onFix !== undefined && (
          <Button
            class="small"
            onClick={() => onFix(finding, suggestion)}
            label={
              'name' in suggestion ? t.useName(suggestion.name) : t.useValue(JSON.stringify(suggestion.value))
            }
          />
        )}
      </div>
    </li>
  );
}
