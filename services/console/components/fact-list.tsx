import type { ComponentChildren } from 'preact'

type Fact = readonly [label: string, content: ComponentChildren]

/** Facts as terms with their values; those without a value are left out. */
export const FactList = ({ facts }: { facts: readonly Fact[] }) => (
  <dl class="fact-list">
    {facts
      .filter(([, content]) => content !== undefined && content !== null)
      .map(([label, content]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{content}</dd>
        </div>
      ))}
  </dl>
)
