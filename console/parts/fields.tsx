import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string | undefined;
  readonly type?: 'text' | 'number' | 'password' | 'date';
  readonly isWide?: boolean | undefined;
  readonly isRequired?: boolean;
  readonly isReadOnly?: boolean;
  readonly error?: string | undefined;
  /** Suggestions to choose from. */
  readonly offers?: readonly string[];
  /** An example, shown while the field is empty. */
  readonly placeholder?: string;
}

/** A single-line text field with its label, and a hint below it. */
export function Field({ label, value, onInput, hint, type = 'text', error, offers, ...props }: FieldProps) {
  const id = useId();
  return (
    <Labelled {...{ id, label, hint, error }} isWide={props.isWide}>
      <input
        id={id}
        {...typing(id, error ?? hint, error)}
        {...inputType(type)}
        value={value}
        placeholder={props.placeholder}
        required={props.isRequired === true}
        readOnly={props.isReadOnly === true}
        {...(offers === undefined ? {} : { list: `${id}-offers` })}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {offers !== undefined && (
        <datalist id={`${id}-offers`}>
          {offers.map((offer) => (
            <option key={offer} value={offer} />
          ))}
        </datalist>
      )}
    </Labelled>
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

interface LinesProps extends Pick<FieldProps, 'label' | 'value' | 'onInput' | 'hint' | 'error' | 'isWide'> {
  readonly rows?: number;
}

/** A multi-line text field with its label, and a hint below it. */
export function Lines({ label, value, onInput, hint, error, isWide, rows = 2 }: LinesProps) {
  const id = useId();
  return (
    <Labelled {...{ id, label, hint, error, isWide }}>
      <textarea
        id={id}
        {...typing(id, error ?? hint, error)}
        rows={rows}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Labelled>
  );
}

/** Attributes of all fields for typing. @param note the text that describes the field */
function typing(id: string, note: string | undefined, error: string | undefined) {
  return {
    ...({ autocomplete: 'off', autocapitalize: 'off', spellcheck: false } as const),
    'aria-invalid': error !== undefined,
    'aria-describedby': note === undefined ? undefined : `${id}-note`,
  };
}

function Labelled({
  id,
  label,
  hint,
  error,
  isWide = false,
  children,
}: Pick<FieldProps, 'label' | 'hint' | 'error' | 'isWide'> & {
  readonly id: string;
  readonly children: ComponentChildren;
}) {
  const note = error ?? hint;
  return (
    <div class={isWide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      {children}
      {note !== undefined && (
        <p id={`${id}-note`} class={error === undefined ? 'hint' : 'hint wrong'}>
          {note}
        </p>
      )}
    </div>
  );
}

/** A select field. */
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
    <Labelled {...{ id, label }}>
      <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value as Value)}>
        {choices.map(([choice, name]) => (
          <option key={choice} value={choice}>
            {name}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

/** A checkbox. */
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
