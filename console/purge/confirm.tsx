import { useState } from 'preact/hooks';
import type { PurgePreview } from '../api/client.js';
import { Dialog } from '../parts/dialog.js';
import { Field, Tick } from '../parts/fields.js';
import { Failure } from '../parts/states.js';
import { Where } from '../parts/where.js';
import { count } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { text } from '../strings.js';
import { confirmedForm, hasBound, isCount, mayBeCount } from './confirmation.js';
import { queryOf, type PurgeForm } from './form.js';
import { applyPlan, startPurge } from './order.js';
import { requestLine } from './request-text.js';

interface ConfirmDialogProps {
  readonly form: PurgeForm;
  readonly preview: Pick<PurgePreview, 'matched' | 'atLeast'> & {
    readonly unit: string;
    readonly plan?: string;
  };
  readonly onClose: () => void;
}

/**
 * Asks for the count that was previewed, and starts the purge: of exactly what was counted, where there is a plan of it; else no
 * more may go than were shown, by default.
 */
export function ConfirmDialog({ form, preview, onClose }: ConfirmDialogProps) {
  const [typed, setTyped] = useState('');
  const isBoundGiven = hasBound(form);
  const { matched, unit, atLeast = false, plan } = preview;
  // Where not all could be counted, that many would surely be too few.
  const [isBounded, setIsBounded] = useState(!atLeast);
  const [isStarting, setIsStarting] = useState(false);
  const [error, setError] = useState<unknown>();
  const t = text.confirm;
  const bounded = confirmedForm(form, matched, isBounded && plan === undefined);
  const isRight = isCount(typed, matched);
  const start = async () => {
    setIsStarting(true);
    setError(undefined);
    try {
      const { id } = await (plan === undefined ? startPurge(bounded) : applyPlan(plan));
      onClose();
      location.hash = routeTo(['purge', id]);
    } catch (failure) {
      setError(failure);
      setIsStarting(false);
    }
  };
  return (
    <Dialog title={t.title(matched, unit, atLeast)} onClose={onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (isRight && !isStarting) void start();
        }}
      >
        <Where tenant={form.tenant.trim()} />
        <p>{t.what}</p>
        {atLeast && <p class="hint-box">{t.more}</p>}
        <pre class="request" tabIndex={0}>
          {requestLine(bounded, queryOf(bounded))}
        </pre>
        {plan !== undefined && <p class="hint-box">{t.exact}</p>}
        {!isBoundGiven && plan === undefined && (
          <Tick label={t.bound(matched)} isOn={isBounded} onChange={setIsBounded} />
        )}
        <Field
          label={t.type(matched)}
          value={typed}
          type="number"
          onInput={setTyped}
          isWide
          error={mayBeCount(typed, matched) ? undefined : t.mismatch(matched)}
        />
        {error !== undefined && <Failure error={error} />}
        <div class="actions">
          <button type="submit" class="danger" disabled={!isRight || isStarting}>
            {isStarting ? t.starting : atLeast ? t.goAll : `${t.go} ${count(matched)}`}
          </button>
          <button type="button" onClick={onClose}>
            {t.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
