import { useState } from 'preact/hooks';
import { api, type PurgePreview } from '../api/client.js';
import { Field, Checkbox } from '../parts/fields.js';
import { ConfirmDialog } from '../parts/dialog.js';
import { count } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { text } from '../strings.js';
import { confirmedForm, hasBound, isCount, couldBeCount, queryOf, type PurgeForm } from './form.js';
import { startPurge } from './purge-api.js';
import { requestLine } from './request-text.js';

interface ConfirmPurgeProps {
  readonly form: PurgeForm;
  readonly preview: Pick<PurgePreview, 'matched' | 'atLeast'> & {
    readonly unit: string;
    readonly plan?: string;
  };
  readonly onClose: () => void;
}

/**
 * Asks the user to type the previewed count, and starts the purge. If there is a plan, exactly what was counted is deleted.
 * Otherwise the purge is by default refused if more match than were counted.
 */
export function ConfirmPurge({ form, preview, onClose }: ConfirmPurgeProps) {
  const [typed, setTyped] = useState('');
  const { matched, unit, atLeast = false, plan } = preview;
  // If not everything could be counted, the count would certainly be too low as a limit.
  const [isBounded, setIsBounded] = useState(!atLeast);
  const t = text.confirm;
  const bounded = confirmedForm(form, matched, isBounded && plan === undefined);
  return (
    <ConfirmDialog
      title={t.title(matched, unit, atLeast)}
      message={t.what}
      confirm={atLeast ? t.goAll : `${t.go} ${count(matched)}`}
      cancel={t.cancel}
      tenant={form.tenant.trim()}
      isReady={isCount(typed, matched)}
      onClose={onClose}
      onConfirm={async () => {
        const { id } = await (plan === undefined
          ? startPurge(bounded)
          : api.json('post', '/purges', { body: { plan } }));
        onClose();
        location.hash = routeTo(['purge', id]);
      }}
    >
      {atLeast && <p class="hint-box">{t.more}</p>}
      <pre class="request" tabIndex={0}>
        {requestLine(bounded, queryOf(bounded))}
      </pre>
      {plan !== undefined && <p class="hint-box">{t.exact}</p>}
      {!hasBound(form) && plan === undefined && (
        <Checkbox label={t.bound(matched)} value={isBounded} onInput={setIsBounded} />
      )}
      <Field
        label={t.type(matched)}
        value={typed}
        type="number"
        onInput={setTyped}
        isWide
        error={couldBeCount(typed, matched) ? undefined : t.mismatch(matched)}
      />
    </ConfirmDialog>
  );
}
