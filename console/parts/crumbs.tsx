/** Breadcrumbs: links to the pages above this one, outermost first. */
export function Crumbs({ to }: { readonly to: readonly (readonly [href: string, name: string])[] }) {
  return (
    <p class="crumb">
      {to.map(([href, name], index) => (
        <span key={href}>
          {index > 0 && ' / '}
          <a href={href}>{name}</a>
        </span>
      ))}
    </p>
  );
}
