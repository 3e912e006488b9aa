//! Declarations at file level: structures, constants, specialization constants, workgroup and
//! private variables.

use super::super::syntax::{
    Declaration, Declarator, DeclaredType, Expression, ExpressionKind, TokenIndex,
};
use super::{Emitted, Emitter, NameSymbol, RecordField, Unsupported, ValuePlace, built_in};
use std::rc::Rc;

/// What a workgroup variable holds when a workgroup begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InitialContents {
    Unwritten,
    Zero,
}

/// A member of a structure.
#[derive(Debug, Clone)]
pub(super) struct StructureMember<'a> {
    /// As the program spells it.
    pub name: String,
    pub declared: &'a DeclaredType,
    /// Array dimensions around the type.
    pub dimensions: usize,
}

/// A variable of the file whose value each invocation calculates when it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct CalculatedVariable<'a> {
    pub declared_type: &'a DeclaredType,
    pub declarator: &'a Declarator,
}

impl<'a> Emitter<'a> {
    /// A declaration at file level.
    pub(super) fn emit_global(&mut self, declaration: &'a Declaration) -> Emitted {
        let declared_type = &declaration.declared;
        if declared_type.has_body
            && (declared_type.has_qualifier("buffer") || declared_type.has_qualifier("uniform"))
        {
            return self.emit_block(declaration);
        }
        let Some(type_token) = declared_type.name else {
            return match declaration.declarators.first() {
                None if !declared_type.has_body => Ok(()),
                first_declarator => Err(self.unsupported_at(
                    "a type without a name",
                    first_declarator.map_or(0, |declarator| declarator.name),
                )),
            };
        };
        if declared_type.has_body {
            self.emit_structure(declared_type, type_token)?;
        }
        for declarator in &declaration.declarators {
            self.emit_global_variable(declared_type, declarator)?;
        }
        Ok(())
    }

    fn emit_global_variable(
        &mut self,
        declared_type: &'a DeclaredType,
        declarator: &'a Declarator,
    ) -> Emitted {
        let variable_name = self.token_text(declarator.name);
        let refused_qualifier = ["uniform", "buffer", "in", "out"]
            .iter()
            .find(|qualifier| declared_type.has_qualifier(qualifier));
        if let Some(qualifier) = refused_qualifier {
            return Err(self.unsupported_at(
                format!("the {qualifier} variable `{variable_name}`"),
                declarator.name,
            ));
        }
        if declared_type.layout.iter().any(|layout_name| layout_name == "constant_id") {
            return self.emit_specialization_constant(declared_type, declarator);
        }
        if declared_type.has_qualifier("shared") {
            let initial_contents = match &declarator.initialiser {
                None => InitialContents::Unwritten,
                Some(Expression { kind: ExpressionKind::List(elements), .. })
                    if elements.is_empty() =>
                {
                    InitialContents::Zero
                }
                Some(_) => {
                    return Err(self.unsupported_at(
                        format!("the initialiser of `{variable_name}`"),
                        declarator.name,
                    ));
                }
            };
            self.emit_unset_variable(declared_type, declarator)?;
            self.shared.push((built_in::spelled_name(variable_name), initial_contents));
            return Ok(());
        }
        let is_folded =
            declarator.initialiser.as_ref().is_none_or(|initialiser| self.is_foldable(initialiser));
        if declared_type.has_qualifier("const") {
            let (qualifier, place) = if is_folded {
                ("constexpr ", ValuePlace::Constant)
            } else {
                ("static const ", ValuePlace::Unwritten)
            };
            return self.emit_variable(qualifier, declared_type, declarator, place);
        }
        let spelled_name = built_in::spelled_name(variable_name);
        if !is_folded {
            self.emit_unset_variable(declared_type, declarator)?;
            let declaration =
                format!("decltype(kernel::{spelled_name}) private_{spelled_name}{{}};");
            self.private.push(RecordField { name: spelled_name, declaration });
            self.calculated.push(CalculatedVariable { declared_type, declarator });
            return Ok(());
        }
        self.emit_variable("static ", declared_type, declarator, ValuePlace::InMemory)?;
        self.out.line(&format!("static const auto initial_{spelled_name} = {spelled_name};"));
        let declaration = format!(
            "decltype(kernel::{spelled_name}) private_{spelled_name} = initial_{spelled_name};"
        );
        self.private.push(RecordField { name: spelled_name, declaration });
        Ok(())
    }

    /// Variables of the file whose values C++ cannot tell when it compiles: each invocation begins
    /// with them.
    pub(super) fn calculated_values(&mut self) -> Emitted {
        if self.calculated.is_empty() {
            return Ok(());
        }
        self.out.line("// Initialisers of the variables of the file.");
        self.open_nest(0..=0);
        for CalculatedVariable { declared_type, declarator } in std::mem::take(&mut self.calculated)
        {
            self.out.start_line();
            self.out.write_piece(&built_in::spelled_name(self.token_text(declarator.name)));
            self.write_initialiser(declared_type, declarator)?;
            self.out.write_piece(";");
            self.out.end_line();
        }
        self.close_nest();
        Ok(())
    }

    /// `qualifier T name = initialiser;`, and the name is known from here on.
    pub(super) fn emit_variable(
        &mut self,
        qualifier: &str,
        declared_type: &DeclaredType,
        declarator: &Declarator,
        value_place: ValuePlace<'a>,
    ) -> Emitted {
        let spelled_name = self.new_name(declarator);
        let element_count =
            declarator.initialiser.as_ref().and_then(|initialiser| self.listed_length(initialiser));
        self.out.start_line();
        self.out.write_piece(qualifier);
        self.write_type(declared_type, &declarator.sizes, element_count, declarator.name)?;
        self.out.write_piece(&format!(" {spelled_name}"));
        self.write_initialiser(declared_type, declarator)?;
        self.end_variable(declared_type, declarator, spelled_name, value_place);
        Ok(())
    }

    /// `static T name;`: what the initialiser says is written elsewhere.
    fn emit_unset_variable(
        &mut self,
        declared_type: &DeclaredType,
        declarator: &Declarator,
    ) -> Emitted {
        let spelled_name = built_in::spelled_name(self.token_text(declarator.name));
        self.out.start_line();
        self.out.write_piece("static ");
        self.write_type(declared_type, &declarator.sizes, None, declarator.name)?;
        self.out.write_piece(&format!(" {spelled_name}"));
        self.write_unset_value(declared_type, declarator);
        self.end_variable(declared_type, declarator, spelled_name, ValuePlace::InMemory);
        Ok(())
    }

    /// Ends the line of a declaration; the name is known from here on.
    fn end_variable(
        &mut self,
        declared_type: &DeclaredType,
        declarator: &Declarator,
        spelled_name: String,
        value_place: ValuePlace<'a>,
    ) {
        self.out.write_piece(";");
        self.out.end_line();
        let variable_name = self.token_text(declarator.name);
        let declared_shape = self.declared_shape(declared_type, &declarator.sizes);
        self.declare_name(variable_name, spelled_name, value_place, declared_shape);
    }

    /// ` = initialiser`; what has none holds what nobody has written, and a Boolean false.
    pub(super) fn write_initialiser(
        &mut self,
        declared_type: &DeclaredType,
        declarator: &Declarator,
    ) -> Emitted {
        match &declarator.initialiser {
            Some(initialiser) => {
                self.check_order(initialiser)?;
                self.out.write_piece(" = ");
                let dimensions = declarator.sizes.len() + declared_type.sizes.len();
                self.emit_initialiser(initialiser, declared_type.name, dimensions)
            }
            None => {
                self.write_unset_value(declared_type, declarator);
                Ok(())
            }
        }
    }

    fn write_unset_value(&mut self, declared_type: &DeclaredType, declarator: &Declarator) {
        let is_plain = declarator.sizes.is_empty() && declared_type.sizes.is_empty();
        if is_plain && declared_type.name.is_some_and(|name| self.token_text(name) == "bool") {
            self.out.write_piece(" = false");
        }
    }

    /// In GLSL the initialiser of `x` may name another `x` around it; in C++ that would be the new
    /// one.
    fn new_name(&mut self, declarator: &Declarator) -> String {
        let variable_name = self.token_text(declarator.name);
        let spelled_name = built_in::spelled_name(variable_name);
        match declarator
            .initialiser
            .as_ref()
            .and_then(|initialiser| self.token_naming(initialiser, variable_name))
        {
            Some(_) => format!("own_{spelled_name}_{}", self.next_number()),
            None => spelled_name,
        }
    }

    /// The same of a variable that lives across regions.
    pub(super) fn refuse_itself(
        &self,
        declarator: &Declarator,
        initialiser: &Expression,
    ) -> Emitted {
        let variable_name = self.token_text(declarator.name);
        match self.token_naming(initialiser, variable_name) {
            Some(token) => {
                Err(self.unsupported_at(format!("`{variable_name}` in its own initialiser"), token))
            }
            None => Ok(()),
        }
    }

    /// Where an expression names a variable or function.
    fn token_naming(&self, expression: &Expression, name: &str) -> Option<TokenIndex> {
        match &expression.kind {
            ExpressionKind::Identifier => {
                (self.token_text(expression.first) == name).then_some(expression.first)
            }
            _ => {
                let mut mentioning_token = None;
                expression.each_part(&mut |part| {
                    mentioning_token = mentioning_token.or_else(|| self.token_naming(part, name))
                });
                mentioning_token
            }
        }
    }

    fn emit_structure(&mut self, declared_type: &'a DeclaredType, name: TokenIndex) -> Emitted {
        let structure_name = self.token_text(name);
        let spelled_name = built_in::spelled_name(structure_name);
        self.structures.insert(structure_name.to_owned(), Rc::default());
        self.out.open_block(&format!("struct {spelled_name} {{"));
        let member_gaps = self.member_gaps(structure_name);
        let mut members = Vec::new();
        for member in &declared_type.members {
            for declarator in &member.declarators {
                let member_name = built_in::spelled_name(self.token_text(declarator.name));
                self.write_gap(member_gaps.as_deref(), members.len());
                self.out.start_line();
                self.write_type(&member.declared, &declarator.sizes, None, declarator.name)?;
                self.out.write_piece(&format!(" {member_name}{{}};"));
                self.out.end_line();
                let dimensions = declarator.sizes.len() + member.declared.sizes.len();
                members.push(StructureMember {
                    name: member_name,
                    declared: &member.declared,
                    dimensions,
                });
            }
        }
        self.write_gap(member_gaps.as_deref(), members.len());
        self.emit_constructors(declared_type, &spelled_name)?;
        let member_equalities: Vec<String> =
            members.iter().map(|member| format!("a.{0} == b.{0}", member.name)).collect();
        self.out.line(&format!(
            "friend bool operator==(const {spelled_name} &a, const {spelled_name} &b) {{ return {}; }}",
            member_equalities.join(" && ")
        ));
        self.out.line(&format!(
            "friend bool operator!=(const {spelled_name} &a, const {spelled_name} &b) {{ return !(a == b); }}"
        ));
        if let Some(structure_layout) = self.layouts.get(structure_name) {
            let declaration_line =
                format!("static constexpr std::size_t EXTENT = {};", structure_layout.end_offset());
            self.out.line(&declaration_line);
        }
        self.out.close_block("};");
        if let Some(structure_layout) = self.layouts.get(structure_name) {
            let declaration_line = format!(
                "static_assert(sizeof({spelled_name}) == {});",
                structure_layout.program_size()
            );
            self.out.line(&declaration_line);
        }
        self.out.line("");
        self.structures.insert(structure_name.to_owned(), members.into());
        Ok(())
    }

    /// What lies before a member of a structure, or behind its last one, in a block.
    fn write_gap(&mut self, gaps: Option<&[u32]>, member: usize) {
        let bytes = gaps.and_then(|gaps| gaps.get(member)).copied().unwrap_or(0);
        if bytes > 0 {
            self.out.line(&format!("Gap<{bytes}> gap_{member};"));
        }
    }

    /// Of a structure: without values, and with one for each member.
    fn emit_constructors(&mut self, declared: &DeclaredType, spelled: &str) -> Emitted {
        self.out.line(&format!("constexpr {spelled}() = default;"));
        self.out.start_line();
        self.out.write_piece(&format!("constexpr {spelled}("));
        let mut member_initialisers = Vec::new();
        for member in &declared.members {
            for declarator in &member.declarators {
                self.out.write_piece(if member_initialisers.is_empty() {
                    "const "
                } else {
                    ", const "
                });
                self.write_type(&member.declared, &declarator.sizes, None, declarator.name)?;
                let member_name = built_in::spelled_name(self.token_text(declarator.name));
                self.out.write_piece(&format!(" &given_{member_name}"));
                member_initialisers.push(format!("{member_name}(given_{member_name})"));
            }
        }
        self.out.write_piece(&format!(") : {} {{}}", member_initialisers.join(", ")));
        self.out.end_line();
        Ok(())
    }

    fn emit_specialization_constant(
        &mut self,
        declared_type: &DeclaredType,
        declarator: &Declarator,
    ) -> Emitted {
        let constant_name = self.token_text(declarator.name);
        let element_type = self.element_name(declared_type, declarator.name)?;
        let Some(constant) = self.interface.specialization.get(constant_name) else {
            // The module lacks it: nothing that runs depends on it.
            return self.emit_variable(
                "constexpr ",
                declared_type,
                declarator,
                ValuePlace::Constant,
            );
        };
        let raw_bits = constant.bits;
        let (as_float, as_double) = (f32::from_bits(raw_bits as u32), f64::from_bits(raw_bits));
        let value_text = match element_type.as_str() {
            "bool" => if raw_bits != 0 { "true" } else { "false" }.to_owned(),
            "Int" => format!("Int::of({}u)", raw_bits as u32),
            "Uint" => format!("{}_u", raw_bits as u32),
            "Int8" | "Uint8" => format!("{element_type}::of({}u)", raw_bits as u8),
            "Int16" | "Uint16" => format!("{element_type}::of({}u)", raw_bits as u16),
            "Int64" | "Uint64" => format!("{element_type}::of({raw_bits}u)"),
            "Float" if as_float.is_finite() => format!("Float({as_float:?}f)"),
            "Double" if as_double.is_finite() => format!("Double({as_double:?})"),
            _ => {
                return Err(
                    self.unsupported_at(format!("the value of `{constant_name}`"), declarator.name)
                );
            }
        };
        let spelled_name = built_in::spelled_name(constant_name);
        self.out.line(&format!(
            "constexpr {element_type} {spelled_name} = {value_text}; // specialization constant"
        ));
        self.declare_name(
            constant_name,
            spelled_name,
            ValuePlace::Constant,
            self.declared_shape(declared_type, &declarator.sizes),
        );
        Ok(())
    }

    /// Whether C++ can tell the value when it compiles: constants and arithmetic, no functions.
    pub(super) fn is_foldable(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Identifier => {
                let name = self.token_text(expression.first);
                match self.resolve_name(name) {
                    Some(NameSymbol { place, .. }) => *place == ValuePlace::Constant,
                    None => name == "gl_WorkGroupSize",
                }
            }
            ExpressionKind::Call { callee, arguments } => {
                let mut innermost = callee;
                while let ExpressionKind::Index { base, .. } = &innermost.kind {
                    innermost = base;
                }
                let name = self.token_text(innermost.first);
                let is_constructor =
                    built_in::type_name(name).is_some() || self.structures.contains_key(name);
                is_constructor && arguments.iter().all(|argument| self.is_foldable(argument))
            }
            // Array elements are read by a function that checks the index.
            ExpressionKind::Assignment { .. }
            | ExpressionKind::Postfix(_)
            | ExpressionKind::Index { .. } => false,
            ExpressionKind::Prefix(_)
                if matches!(self.token_text(expression.first), "++" | "--") =>
            {
                false
            }
            _ => {
                let mut all_parts = true;
                expression.each_part(&mut |part| all_parts &= self.is_foldable(part));
                all_parts
            }
        }
    }

    /// The members of a structure, for layouts.
    pub(super) fn structure_members(
        &self,
        type_token: TokenIndex,
    ) -> Result<Rc<[StructureMember<'a>]>, Unsupported> {
        let members = self.structures.get(self.token_text(type_token)).map(Rc::clone);
        members.ok_or_else(|| {
            self.unsupported_at(
                format!("the type `{}` in a block", self.token_text(type_token)),
                type_token,
            )
        })
    }
}
