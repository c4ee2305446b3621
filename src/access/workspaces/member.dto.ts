import { Transform } from 'class-transformer';
import { IsIn, IsOptional, IsString, MaxLength, ValidateBy } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { Name, OptionalNotNull } from '../../platform/http/fields.js';
import type { Role } from '../auth/auth-context.js';
import { isAddress, LONGEST_ADDRESS } from './address.js';
import { ROLES } from './memberships.service.js';

export class AddMemberDto {
  @Documented({ description: 'The address by which the person is known. Capitals make no other one.' })
  @ValidateBy({
    name: 'address',
    validator: {
      validate: (value) => typeof value === 'string' && isAddress(value),
      defaultMessage: () => '$property must be an address such as ann@acme.example, without hidden characters',
    },
  })
  @MaxLength(LONGEST_ADDRESS)
  @IsString()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value))
  email: string;

  @OptionalNotNull()
  @Name('For a new account; what stands before the @ when it is not given. An account that exists keeps its own.')
  name?: string;

  @IsIn(ROLES)
  @Documented({ description: 'What the member may do. Only an owner makes an owner.' })
  role: Role;
}

export class ChangeMemberDto {
  @IsIn(ROLES)
  @Documented({ description: 'What the member may do from now on.' })
  role: Role;
}

export class RemoveMemberQuery {
  @Documented({ description: 'The id of the member who gets its projects, tasks, files and automations.' })
  @IsString()
  @IsOptional()
  transferTo?: string;
}
