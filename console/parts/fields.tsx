import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { isResourceName } from '../../sidecar/shared/resource-name.js';
import { text } from '../strings.js';

/** The value of a field, and what is done with another one. */
interface Bound<Value> {
  readonly value: Value;
  readonly onInput: (value: Value) => void;
  readonly error?: string | undefined;
}

/**
 * Binds the members of a form to its fields, as in `<Field {...bind('name')} />`.
 *
 * @param errors messages about members, by their names
 */
export function bindForm<Form extends object>(
  form: Form,
  change: (changed: Partial<Form>) => void,
  errors: Readonly<Record<string, string>> = {},
) {
  return <Name extends keyof Form & string>(name: Name): Bound<Form[Name]> => ({
    value: form[name],
    onInput: (value) => change({ [name]: value } as unknown as Partial<Form>),
    error: errors[name],
  });
}

export interface FieldProps extends Bound<string> {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly type?: 'text' | 'number' | 'password' | 'date';
  readonly isWide?: boolean | undefined;
  readonly isRequired?: boolean;
  readonly isReadOnly?: boolean;
  /** Suggestions to choose from. */
  readonly suggestions?: readonly string[];
  /** An example, shown while the field is empty. */
  readonly placeholder?: string;
}

/** A single-line text field with its label, and a hint below it. */
export function Field({
  label,
  value,
  onInput,
  hint,
  type = 'text',
  error,
  suggestions,
  ...props
}: FieldProps) {
  const id = useId();
  return (
    <Labelled {...{ id, label, hint, error }} isWide={props.isWide}>
      <input
        id={id}
        {...textInput(id, error ?? hint, error)}
        {...inputType(type)}
        value={value}
        placeholder={props.placeholder}
        required={props.isRequired === true}
        readOnly={props.isReadOnly === true}
        {...(suggestions === undefined ? {} : { list: `${id}-suggestions` })}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {suggestions !== undefined && (
        <datalist id={`${id}-suggestions`}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
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

interface TextAreaProps extends Pick<
  FieldProps,
  'label' | 'value' | 'onInput' | 'hint' | 'error' | 'isWide'
> {
  readonly rows?: number;
}

/** A multi-line text field with its label, and a hint below it. */
export function TextArea({ label, value, onInput, hint, error, isWide, rows = 2 }: TextAreaProps) {
  const id = useId();
  return (
    <Labelled {...{ id, label, hint, error, isWide }}>
      <textarea
        id={id}
        {...textInput(id, error ?? hint, error)}
        rows={rows}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Labelled>
  );
}

/** Attributes of all fields for typing. @param note the text that describes the field */
function textInput(id: string, note: string | undefined, error: string | undefined) {
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
export function Select<Value extends string>({
  label,
  value,
  choices,
  onInput,
  error,
}: Bound<Value> & {
  readonly label: string;
  /** The values, each with its name unless that is the same. */
  readonly choices: readonly (Value | readonly [Value, string])[];
}) {
  const id = useId();
  return (
    <Labelled {...{ id, label, error }}>
      <select id={id} value={value} onChange={(event) => onInput(event.currentTarget.value as Value)}>
        {choices
          .map((choice) => (typeof choice === 'string' ? ([choice, choice] as const) : choice))
          .map(([choice, name]) => (
            <option key={choice} value={choice}>
              {name}
            </option>
          ))}
      </select>
    </Labelled>
  );
}

/** A form that is sent by a script, not by the browser. */
export function Form({
  onSubmit,
  ...props
}: Omit<JSX.IntrinsicElements['form'], 'onSubmit'> & { readonly onSubmit?: () => void }) {
  return (
    <form
      {...props}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit?.();
      }}
    />
  );
}

/** A checkbox. */
export function Checkbox({ label, value, onInput }: Bound<boolean> & { readonly label: string }) {
  return (
    <label class="tick">
      <input type="checkbox" checked={value} onChange={(event) => onInput(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

/** Whether a typed name may be that of a new policy. Another name would change the path of the request. */
export function mayBePolicy(name: string): boolean {
  return name === '' || isResourceName(name.trim());
}

/** The field for the name of a policy, which cannot be changed later. */
export function PolicyName({ error, ...field }: Bound<string> & Pick<FieldProps, 'isReadOnly'>) {
  const wrong = text.retention.nameWrong(text.labels.nameHint);
  return (
    <Field
      {...field}
      label={text.labels.name}
      hint={text.labels.nameHint}
      error={mayBePolicy(field.value) ? error : wrong}
      isRequired
    />
  );
}

/** Moves the focus to the first field of the form of a button that disappears when pressed. */
export function focusFirstField(button: HTMLButtonElement): void {
  const [first] = button.form?.elements ?? [];
  if (first instanceof HTMLElement) first.focus();
}

/** Returns the texts of a form that are not empty, trimmed. */
export function nonEmpty<Texts extends Readonly<Record<string, string>>>(texts: Texts) {
  const given = Object.entries(texts).map(([name, typed]) => [name, typed.trim()]);
  return Object.fromEntries(given.filter(([, typed]) => typed !== '')) as {
    readonly [Name in keyof Texts]?: Exclude<Texts[Name], ''>;
  };
}

/** Returns the number that was typed. Anything else is returned as typed, so that the gateway refuses it. */
export function typedNumber(typed: string): number {
  const value = Number(typed);
  return Number.isFinite(value) ? value : (typed as unknown as number);
}
