/** Names of policies that have a label of their own: there are no more policies, unless many are deleted and made. */
const MAX_POLICIES = 1000;

/** Names policies in labels: those beyond the first thousand are `other`. */
export function createPolicyLabel(): (policy: string) => string {
  const known = new Set<string>();
  return (policy) => {
    if (!known.has(policy) && known.size >= MAX_POLICIES) return 'other';
    known.add(policy);
    return policy;
  };
}
