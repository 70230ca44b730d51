import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string | undefined;
  readonly type?: 'text' | 'number' | 'password' | 'date';
  readonly isWide?: boolean;
  readonly isRequired?: boolean;
  readonly isReadOnly?: boolean;
  readonly error?: string | undefined;
  /** What may be meant, to pick from. */
  readonly offers?: readonly string[];
  /** Called when the field is left. */
  readonly onLeave?: () => void;
}

/** A line of text with its label, and a hint below it. */
export function Field({ label, value, onInput, hint, type = 'text', error, offers, ...props }: FieldProps) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div class={props.isWide === true ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      <input
        id={id}
        {...inputType(type)}
        value={value}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        required={props.isRequired === true}
        readOnly={props.isReadOnly === true}
        aria-invalid={error !== undefined}
        {...(offers === undefined ? {} : { list: `${id}-offers` })}
        {...(note === undefined ? {} : { 'aria-describedby': `${id}-note` })}
        onInput={(event) => onInput(event.currentTarget.value)}
        onBlur={() => props.onLeave?.()}
      />
      {offers !== undefined && (
        <datalist id={`${id}-offers`}>
          {offers.map((offer) => (
            <option key={offer} value={offer} />
          ))}
        </datalist>
      )}
      {note !== undefined && (
        <p id={`${id}-note`} class={error === undefined ? 'hint' : 'hint wrong'}>
          {note}
        </p>
      )}
    </div>
  );
}

/** Numbers have a text field, so that input that is not a number stays visible. */
function inputType(type: NonNullable<FieldProps['type']>) {
  switch (type) {
    case 'password':
      return { type };
    case 'date':
      return { type };
    case 'number':
      return { type: 'text' as const, inputMode: 'decimal' as const };
    case 'text':
      return { type, inputMode: 'text' as const };
  }
}

/** Several lines of text, one thing a line. */
export function Lines({
  label,
  value,
  onInput,
  hint,
  error,
}: Pick<FieldProps, 'label' | 'value' | 'onInput' | 'hint' | 'error'>) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={2}
        value={value}
        spellcheck={false}
        aria-invalid={error !== undefined}
        {...(note === undefined ? {} : { 'aria-describedby': `${id}-note` })}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {note !== undefined && (
        <p id={`${id}-note`} class={error === undefined ? 'hint' : 'hint wrong'}>
          {note}
        </p>
      )}
    </div>
  );
}

/** One of a few choices. */
export function Choice<Value extends string>({
  label,
  value,
  choices,
  onChoose,
}: {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly (readonly [Value, string])[];
  readonly onChoose: (value: Value) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value as Value)}>
        {choices.map(([choice, name]) => (
          <option key={choice} value={choice}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A box to tick. */
export function Tick({
  label,
  isOn,
  onChange,
}: {
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) {
  return (
    <label class="tick">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}
