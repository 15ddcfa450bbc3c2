import type { Operation } from '../lib/contract/api-contract.js';
import type { Logger } from '../lib/log/logger.js';
import type { AccessControl } from './auth/access-control.js';
import type { OperationHandlers } from './http/api-request.js';
import { ContextRoles } from './rbac/context-roles.js';
import { PolicyAdministration } from './rbac/policy-administration.js';
import { RoleAdministration } from './rbac/role-administration.js';
import { SecurityRuleAdministration } from './rbac/security-rule-administration.js';
import { UserAdministration } from './rbac/user-administration.js';
import { loginRoutes } from './routes/login-routes.js';
import { securityCatalogueRoutes } from './routes/security-catalogue-routes.js';
import { securityConfigRoutes } from './routes/security-config-routes.js';
import { securityMeRoutes } from './routes/security-me-routes.js';
import { securityPoliciesRoutes } from './routes/security-policies-routes.js';
import { securityRoleLinksRoutes, securityRolesRoutes } from './routes/security-roles-routes.js';
import { securityRulesRoutes } from './routes/security-rules-routes.js';
import { securityUserRolesRoutes, securityUsersRoutes } from './routes/security-users-routes.js';

/** What the operations of logins, users and permissions work with. */
export type SecurityHandlerParts = AccessControl & {
  readonly operations: readonly Operation[];
  readonly logger: Logger;
};

/** Logins, users, roles, policies, security rules and their settings (rest-api.md 2, 6.9). */
export function securityHandlers(parts: SecurityHandlerParts): readonly OperationHandlers[] {
  const { store, decisions, hasher, settings, operations, logger } = parts;
  const users = new UserAdministration(store, decisions, hasher);
  const roles = new RoleAdministration(store, decisions);
  return [
    loginRoutes({ ...parts, contextRoles: new ContextRoles(store, logger) }),
    securityMeRoutes(store),
    securityUsersRoutes(store, users),
    securityUserRolesRoutes(store, users),
    securityRolesRoutes(store, roles),
    securityRoleLinksRoutes(store, roles),
    securityPoliciesRoutes(store, new PolicyAdministration(store, decisions)),
    securityRulesRoutes(store, new SecurityRuleAdministration(store, decisions)),
    securityCatalogueRoutes(operations),
    securityConfigRoutes(settings, decisions),
  ];
}
