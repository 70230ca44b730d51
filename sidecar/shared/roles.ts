/** The roles of people who sign in. sidecar/auth/ defines what each role may do. */
export const ROLES = ['viewer', 'modeller', 'purger', 'admin'] as const;
export type Role = (typeof ROLES)[number];
