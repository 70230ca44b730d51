/** Links to the parts of a page. */
export function Tabs({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly { readonly href: string; readonly name: string; readonly isShown: boolean }[];
}) {
  return (
    <nav class="tabs" aria-label={label}>
      <ul>
        {tabs.map(({ href, name, isShown }) => (
          <li key={href}>
            <a href={href} {...(isShown ? { 'aria-current': 'page' as const } : {})}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
