//! Variables that live across barrier regions: fields of the invocation's record.
//!
//! Promises: a variable that a later region names has a field of its own; constants that C++ can
//! tell stand before the loop nests instead.

use super::statement_list;
use crate::cpp::{Emitted, Emitter, NameSymbol, ValuePlace, built_in};
use crate::syntax::{Declaration, Statement, StatementKind};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl Emitter<'_> {
    /// Writes a field for every variable that lives across regions of a list of statements or of
    /// those inside it.
    pub(in crate::cpp) fn expand_variables(
        &mut self,
        statements: &[Statement],
        known_fields: &mut BTreeSet<Rc<str>>,
    ) -> Emitted {
        if !statements.iter().any(|statement| self.holds_barrier(statement)) {
            return Ok(());
        }
        self.scopes.push(BTreeMap::new());
        for (statement_index, statement) in statements.iter().enumerate() {
            if let StatementKind::Declaration(declaration) = &statement.kind {
                self.size_constants(declaration)?;
                let first_barrier = statements[statement_index..]
                    .iter()
                    .position(|other| self.holds_barrier(other))
                    .map(|offset| statement_index + offset);
                let later_statements =
                    first_barrier.map_or(&[][..], |first_barrier| &statements[first_barrier..]);
                self.expand_declaration(declaration, Some(later_statements), known_fields)?;
            }
            if self.holds_barrier(statement) {
                self.expand_inner(statement, known_fields)?;
            }
        }
        self.scopes.pop();
        Ok(())
    }

    /// Constants of a function, which the sizes of the record's arrays may name.
    fn size_constants(&mut self, declaration: &Declaration) -> Emitted {
        let declared_type = &declaration.declared;
        for declarator in &declaration.declarators {
            let is_scalar = declared_type.sizes.is_empty() && declarator.sizes.is_empty();
            let (true, true, Some(initialiser)) =
                (declared_type.has_qualifier("const"), is_scalar, &declarator.initialiser)
            else {
                continue;
            };
            let integers = ["int", "uint", "int32_t", "uint32_t"];
            let is_integer =
                declared_type.name.is_some_and(|name| integers.contains(&self.token_text(name)));
            if !is_integer || !self.is_foldable(initialiser) {
                continue;
            }
            let constant_name = format!(
                "kept_{}_{}",
                built_in::spelled_name(self.token_text(declarator.name)),
                self.next_number()
            );
            self.out.start_line();
            self.out.write_piece("static constexpr ");
            self.write_type(declared_type, &[], None, declarator.name)?;
            self.out.write_piece(&format!(" {constant_name} = "));
            self.emit_initialiser(initialiser, declared_type.name, 0)?;
            self.out.write_piece(";");
            self.out.end_line();
            self.declare_name(
                self.token_text(declarator.name),
                constant_name,
                ValuePlace::Constant,
                None,
            );
        }
        Ok(())
    }

    fn expand_inner(
        &mut self,
        statement: &Statement,
        known_fields: &mut BTreeSet<Rc<str>>,
    ) -> Emitted {
        match &statement.kind {
            StatementKind::Block(inner) => self.expand_variables(inner, known_fields),
            StatementKind::If { then, otherwise, .. } => {
                self.expand_variables(statement_list(then), known_fields)?;
                otherwise.as_deref().map_or(Ok(()), |otherwise| {
                    self.expand_variables(statement_list(otherwise), known_fields)
                })
            }
            StatementKind::For { init, body, .. } => {
                if let Some(StatementKind::Declaration(declaration)) =
                    init.as_ref().map(|init| &init.kind)
                {
                    self.expand_declaration(declaration, None, known_fields)?;
                }
                self.expand_variables(statement_list(body), known_fields)
            }
            StatementKind::While { body, .. } | StatementKind::DoWhile { body, .. } => {
                self.expand_variables(statement_list(body), known_fields)
            }
            _ => Ok(()),
        }
    }

    /// `later`: the statements behind the declaring region; none where the variable lives across
    /// for certain.
    fn expand_declaration(
        &mut self,
        declaration: &Declaration,
        later_statements: Option<&[Statement]>,
        known_fields: &mut BTreeSet<Rc<str>>,
    ) -> Emitted {
        let declared_type = &declaration.declared;
        for declarator in &declaration.declarators {
            let variable_name = self.token_text(declarator.name);
            let is_mentioned = |statements: &[Statement]| {
                statements
                    .iter()
                    .flat_map(|statement| statement.first..=statement.last)
                    .any(|token| self.token_text(token) == variable_name)
            };
            // One constant may name another.
            if declared_type.has_qualifier("const") && self.has_folded_initialiser(declarator) {
                self.hoisted.insert(declarator.name);
                continue;
            }
            if later_statements.is_some_and(|later_statements| !is_mentioned(later_statements)) {
                continue;
            }
            let spelled_name = built_in::spelled_name(variable_name);
            let field_name: Rc<str> = free_field_name(spelled_name, known_fields).into();
            known_fields.insert(Rc::clone(&field_name));
            self.out.start_line();
            let element_count = declarator
                .initialiser
                .as_ref()
                .and_then(|initialiser| self.listed_length(initialiser));
            self.write_type(declared_type, &declarator.sizes, element_count, declarator.name)?;
            self.out.write_piece(&format!(" {field_name}{{}};"));
            self.out.end_line();
            self.fields.insert(declarator.name, field_name);
        }
        Ok(())
    }

    fn is_hiding(&self, name: &str) -> bool {
        self.scopes.iter().skip(1).any(|scope| scope.contains_key(name))
    }

    /// Whether a statement declares a variable that lives across regions and hides another one.
    pub(super) fn hides_variable(&self, statement: &Statement) -> bool {
        let StatementKind::Declaration(declaration) = &statement.kind else { return false };
        let kept_declarators = declaration
            .declarators
            .iter()
            .filter(|declarator| self.fields.contains_key(&declarator.name));
        kept_declarators
            .into_iter()
            .any(|declarator| self.is_hiding(self.token_text(declarator.name)))
    }

    /// Makes the variables known that a region declares and others use; constants among them stand
    /// before its nest.
    pub(super) fn announce_variables(&mut self, statements: &[Statement]) -> Emitted {
        for statement in statements {
            let StatementKind::Declaration(declaration) = &statement.kind else { continue };
            for declarator in &declaration.declarators {
                let variable_name = self.token_text(declarator.name);
                let spelled_name = built_in::spelled_name(variable_name);
                if let Some(field) = self.fields.get(&declarator.name).map(Rc::clone) {
                    let spelled_text = if self.is_hiding(variable_name) {
                        format!("kept_{field}")
                    } else {
                        spelled_name
                    };
                    let declared_shape =
                        self.declared_shape(&declaration.declared, &declarator.sizes);
                    let scope = self.scopes.last_mut().expect("the file's scope is never left");
                    let symbol = NameSymbol {
                        text: spelled_text.into(),
                        place: ValuePlace::Locally,
                        field: Some(field),
                        shape: declared_shape,
                    };
                    scope.insert(variable_name.to_owned(), symbol);
                } else if self.hoisted.contains(&declarator.name) {
                    self.emit_variable(
                        "constexpr ",
                        &declaration.declared,
                        declarator,
                        ValuePlace::Constant,
                    )?;
                }
            }
        }
        Ok(())
    }
}

/// The name, or the first of `name_2`, `name_3` ... that no field has yet.
fn free_field_name(name: String, known_fields: &BTreeSet<Rc<str>>) -> String {
    if !known_fields.contains(name.as_str()) {
        return name;
    }
    let mut numbered_names = (2..).map(|number| format!("{name}_{number}"));
    numbered_names
        .find(|candidate| !known_fields.contains(candidate.as_str()))
        .expect("numbers do not end")
}
