// What a company's directory does with the members of its workspace (reference §31). Without HTTP: the operator makes the tokens.
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DirectoryGroups } from './directory-groups.js';
import { DirectoryPeople } from './directory-people.js';
import { DirectoryRoles } from './directory-roles.js';
import { ScimTokens } from './scim-tokens.js';

@Module({
  imports: [AuthModule],
  providers: [DirectoryGroups, DirectoryPeople, DirectoryRoles, ScimTokens],
  exports: [DirectoryGroups, DirectoryPeople, ScimTokens],
})
export class ProvisioningModule {}
