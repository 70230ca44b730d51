/** The roles of people who sign in. What each may do is in sidecar/auth/. */
export const ROLES = ['viewer', 'modeller', 'purger', 'admin'] as const;
export type Role = (typeof ROLES)[number];
