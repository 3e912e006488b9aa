//! Declarations at file level: structures, constants, specialization constants, workgroup and
//! private variables.

use super::super::syntax::{
    Declaration, Declarator, DeclaredType, Expression, ExpressionKind, TokenIndex,
};
use super::{Emitted, Emitter, Field, Held, Symbol, Unsupported, built_in};

/// What a workgroup variable holds when a workgroup begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fresh {
    Unwritten,
    Zero,
}

/// A member of a structure.
#[derive(Debug, Clone)]
pub(super) struct StructureMember {
    /// As the program spells it.
    pub name: String,
    pub declared: DeclaredType,
    /// Array dimensions around the type.
    pub dimensions: usize,
}

impl Emitter<'_> {
    /// A declaration at file level.
    pub(super) fn global(&mut self, declaration: &Declaration) -> Emitted {
        let declared = &declaration.declared;
        if declared.has_body && (declared.has("buffer") || declared.has("uniform")) {
            return self.block(declaration);
        }
        let Some(name) = declared.name else {
            return match declaration.declarators.first() {
                None if !declared.has_body => Ok(()),
                first => Err(self.unsupported(
                    "a type without a name",
                    first.map_or(0, |declarator| declarator.name),
                )),
            };
        };
        if declared.has_body {
            self.structure(declared, name)?;
        }
        for declarator in &declaration.declarators {
            self.global_variable(declared, declarator)?;
        }
        Ok(())
    }

    fn global_variable(&mut self, declared: &DeclaredType, declarator: &Declarator) -> Emitted {
        let name = self.text(declarator.name);
        let refused =
            ["uniform", "buffer", "in", "out"].iter().find(|qualifier| declared.has(qualifier));
        if let Some(qualifier) = refused {
            return Err(
                self.unsupported(format!("the {qualifier} variable `{name}`"), declarator.name)
            );
        }
        if declared.layout.iter().any(|known| known == "constant_id") {
            return self.specialization_constant(declared, declarator);
        }
        if declared.has("shared") {
            let value = match &declarator.initialiser {
                None => Fresh::Unwritten,
                Some(Expression { kind: ExpressionKind::List(elements), .. })
                    if elements.is_empty() =>
                {
                    Fresh::Zero
                }
                Some(_) => {
                    return Err(
                        self.unsupported(format!("the initialiser of `{name}`"), declarator.name)
                    );
                }
            };
            let plain = Declarator { initialiser: None, ..declarator.clone() };
            self.variable("static ", declared, &plain, Held::InMemory)?;
            self.shared.push((built_in::spelled(name), value));
            return Ok(());
        }
        let folded =
            declarator.initialiser.as_ref().is_none_or(|initialiser| self.is_foldable(initialiser));
        if declared.has("const") {
            let (qualifier, place) = if folded {
                ("constexpr ", Held::Constant)
            } else {
                ("static const ", Held::Unwritten)
            };
            return self.variable(qualifier, declared, declarator, place);
        }
        let spelled = built_in::spelled(name);
        if !folded {
            let plain = Declarator { initialiser: None, ..declarator.clone() };
            self.variable("static ", declared, &plain, Held::InMemory)?;
            let declaration = format!("decltype(kernel::{spelled}) private_{spelled}{{}};");
            self.private.push(Field { name: spelled, declaration });
            self.calculated.push((declared.clone(), declarator.clone()));
            return Ok(());
        }
        self.variable("static ", declared, declarator, Held::InMemory)?;
        self.out.line(&format!("static const auto initial_{spelled} = {spelled};"));
        let declaration =
            format!("decltype(kernel::{spelled}) private_{spelled} = initial_{spelled};");
        self.private.push(Field { name: spelled, declaration });
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
        for (declared, declarator) in std::mem::take(&mut self.calculated) {
            self.out.start();
            self.out.write(&built_in::spelled(self.text(declarator.name)));
            self.write_initialiser(&declared, &declarator)?;
            self.out.write(";");
            self.out.end();
        }
        self.close_nest();
        Ok(())
    }

    /// `qualifier T name = initialiser;`, and the name is known from here on.
    pub(super) fn variable(
        &mut self,
        qualifier: &str,
        declared: &DeclaredType,
        declarator: &Declarator,
        place: Held,
    ) -> Emitted {
        let name = self.text(declarator.name);
        let spelled = self.new_name(declarator);
        self.out.start();
        self.out.write(qualifier);
        let listed =
            declarator.initialiser.as_ref().and_then(|initialiser| self.listed(initialiser));
        self.write_type(declared, &declarator.sizes, listed, declarator.name)?;
        self.out.write(&format!(" {spelled}"));
        self.write_initialiser(declared, declarator)?;
        self.out.write(";");
        self.out.end();
        let shape = self.shape(declared, &declarator.sizes);
        self.declare(name, spelled, place, shape);
        Ok(())
    }

    /// ` = initialiser`; what has none holds what nobody has written, and a Boolean false.
    pub(super) fn write_initialiser(
        &mut self,
        declared: &DeclaredType,
        declarator: &Declarator,
    ) -> Emitted {
        match &declarator.initialiser {
            Some(initialiser) => {
                self.check_order(initialiser)?;
                self.out.write(" = ");
                let dimensions = declarator.sizes.len() + declared.sizes.len();
                self.initialiser(initialiser, declared.name, dimensions)
            }
            None => {
                let plain = declarator.sizes.is_empty() && declared.sizes.is_empty();
                if plain && declared.name.is_some_and(|name| self.text(name) == "bool") {
                    self.out.write(" = false");
                }
                Ok(())
            }
        }
    }

    /// In GLSL the initialiser of `x` may name another `x` around it; in C++ that would be the new
    /// one.
    fn new_name(&mut self, declarator: &Declarator) -> String {
        let name = self.text(declarator.name);
        let spelled = built_in::spelled(name);
        match declarator
            .initialiser
            .as_ref()
            .and_then(|initialiser| self.mention(initialiser, name))
        {
            Some(_) => format!("own_{spelled}_{}", self.next_number()),
            None => spelled,
        }
    }

    /// The same of a variable that lives across regions.
    pub(super) fn refuse_itself(
        &self,
        declarator: &Declarator,
        initialiser: &Expression,
    ) -> Emitted {
        let name = self.text(declarator.name);
        match self.mention(initialiser, name) {
            Some(token) => Err(self.unsupported(format!("`{name}` in its own initialiser"), token)),
            None => Ok(()),
        }
    }

    /// Where an expression names a variable or function.
    fn mention(&self, expression: &Expression, name: &str) -> Option<TokenIndex> {
        match &expression.kind {
            ExpressionKind::Identifier => {
                (self.text(expression.first) == name).then_some(expression.first)
            }
            _ => {
                let mut found = None;
                expression
                    .each_part(&mut |part| found = found.or_else(|| self.mention(part, name)));
                found
            }
        }
    }

    fn structure(&mut self, declared: &DeclaredType, name: TokenIndex) -> Emitted {
        let text = self.text(name);
        let spelled = built_in::spelled(text);
        self.structures.insert(text.to_owned(), Vec::new());
        self.out.open(&format!("struct {spelled} {{"));
        let gaps = self.gaps(text);
        let mut members = Vec::new();
        for member in &declared.members {
            for declarator in &member.declarators {
                let name = built_in::spelled(self.text(declarator.name));
                self.write_gap(gaps.as_deref(), members.len());
                self.out.start();
                self.write_type(&member.declared, &declarator.sizes, None, declarator.name)?;
                self.out.write(&format!(" {name}{{}};"));
                self.out.end();
                let dimensions = declarator.sizes.len() + member.declared.sizes.len();
                members.push(StructureMember {
                    name,
                    declared: member.declared.clone(),
                    dimensions,
                });
            }
        }
        self.write_gap(gaps.as_deref(), members.len());
        self.constructors(declared, &spelled)?;
        let equal: Vec<String> =
            members.iter().map(|member| format!("a.{0} == b.{0}", member.name)).collect();
        self.out.line(&format!(
            "friend bool operator==(const {spelled} &a, const {spelled} &b) {{ return {}; }}",
            equal.join(" && ")
        ));
        self.out.line(&format!(
            "friend bool operator!=(const {spelled} &a, const {spelled} &b) {{ return !(a == b); }}"
        ));
        if let Some(laid) = self.layouts.get(text) {
            let line = format!("static constexpr std::size_t EXTENT = {};", laid.end());
            self.out.line(&line);
        }
        self.out.close("};");
        if let Some(laid) = self.layouts.get(text) {
            let line = format!("static_assert(sizeof({spelled}) == {});", laid.size());
            self.out.line(&line);
        }
        self.out.line("");
        self.structures.insert(text.to_owned(), members);
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
    fn constructors(&mut self, declared: &DeclaredType, spelled: &str) -> Emitted {
        self.out.line(&format!("constexpr {spelled}() = default;"));
        self.out.start();
        self.out.write(&format!("constexpr {spelled}("));
        let mut initialised = Vec::new();
        for member in &declared.members {
            for declarator in &member.declarators {
                self.out.write(if initialised.is_empty() { "const " } else { ", const " });
                self.write_type(&member.declared, &declarator.sizes, None, declarator.name)?;
                let name = built_in::spelled(self.text(declarator.name));
                self.out.write(&format!(" &given_{name}"));
                initialised.push(format!("{name}(given_{name})"));
            }
        }
        self.out.write(&format!(") : {} {{}}", initialised.join(", ")));
        self.out.end();
        Ok(())
    }

    fn specialization_constant(
        &mut self,
        declared: &DeclaredType,
        declarator: &Declarator,
    ) -> Emitted {
        let name = self.text(declarator.name);
        let element = self.element_name(declared, declarator.name)?;
        let Some(constant) = self.interface.specialization.get(name) else {
            // The module lacks it: nothing that runs depends on it.
            return self.variable("constexpr ", declared, declarator, Held::Constant);
        };
        let bits = constant.bits;
        let (single, double) = (f32::from_bits(bits as u32), f64::from_bits(bits));
        let value = match element.as_str() {
            "bool" => if bits != 0 { "true" } else { "false" }.to_owned(),
            "Int" => format!("Int::of({}u)", bits as u32),
            "Uint" => format!("{}_u", bits as u32),
            "Int8" | "Uint8" => format!("{element}::of({}u)", bits as u8),
            "Int16" | "Uint16" => format!("{element}::of({}u)", bits as u16),
            "Int64" | "Uint64" => format!("{element}::of({bits}u)"),
            "Float" if single.is_finite() => format!("Float({single:?}f)"),
            "Double" if double.is_finite() => format!("Double({double:?})"),
            _ => return Err(self.unsupported(format!("the value of `{name}`"), declarator.name)),
        };
        let spelled = built_in::spelled(name);
        self.out
            .line(&format!("constexpr {element} {spelled} = {value}; // specialization constant"));
        self.declare(name, spelled, Held::Constant, self.shape(declared, &declarator.sizes));
        Ok(())
    }

    /// Whether C++ can tell the value when it compiles: constants and arithmetic, no functions.
    pub(super) fn is_foldable(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Identifier => {
                let name = self.text(expression.first);
                match self.resolve(name) {
                    Some(Symbol { place, .. }) => *place == Held::Constant,
                    None => name == "gl_WorkGroupSize",
                }
            }
            ExpressionKind::Call { callee, arguments } => {
                let mut inner = callee;
                while let ExpressionKind::Index { base, .. } = &inner.kind {
                    inner = base;
                }
                let name = self.text(inner.first);
                let constructs =
                    built_in::type_name(name).is_some() || self.structures.contains_key(name);
                constructs && arguments.iter().all(|argument| self.is_foldable(argument))
            }
            // Array elements are read by a function that checks the index.
            ExpressionKind::Assignment { .. }
            | ExpressionKind::Postfix(_)
            | ExpressionKind::Index { .. } => false,
            ExpressionKind::Prefix(_) if matches!(self.text(expression.first), "++" | "--") => {
                false
            }
            _ => {
                let mut all = true;
                expression.each_part(&mut |part| all &= self.is_foldable(part));
                all
            }
        }
    }

    /// The members of a structure, for layouts.
    pub(super) fn structure_members(
        &self,
        name: TokenIndex,
    ) -> Result<Vec<StructureMember>, Unsupported> {
        let members = self.structures.get(self.text(name)).cloned();
        members.ok_or_else(|| {
            self.unsupported(format!("the type `{}` in a block", self.text(name)), name)
        })
    }
}
