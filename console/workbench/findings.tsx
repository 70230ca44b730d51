import type { Suggestion } from './suggestions.js';
import { shownPointer } from '../shared/format.js';
import { text } from '../strings.js';
import type { Finding } from './workbench-api.js';

/** Maximum number of findings listed; the gateway sends at most a hundred per entity. */
const MOST = 200;

/** The findings, each with its position, a sentence, and a fix if there is one. */
export function Findings({
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
      {findings.slice(0, MOST).map((finding) => (
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
